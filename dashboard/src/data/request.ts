import type { Problem } from "@subtext/client/contract/problem";

/** What the service refused; the message is meant for people. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;

  constructor({ status, code, detail }: Pick<Problem, "status" | "code" | "detail">) {
    super(detail);
    this.name = "ProblemError";
    this.status = status;
    this.code = code;
  }
}

/**
 * Asks the operators' API.
 * @param path below `/internal`
 * @returns the parsed answer; undefined where it has no body
 * @throws ProblemError; TypeError where the service can not be reached
 */
export async function request<T>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  { body, signal }: { body?: unknown; signal?: AbortSignal } = {},
): Promise<T> {
  if (isOther(path)) {
    throw new ProblemError({
      status: 404,
      code: "route_not_found",
      detail: "There is nothing at this address.",
    });
  }
  const response = await fetch(`/internal${path}`, {
    method,
    ...(body !== undefined && {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
    ...(signal && { signal }),
  });
  const text = await response.text();
  if (response.ok) return (text === "" ? undefined : JSON.parse(text)) as T;
  throw new ProblemError(parseProblem(response.status, text));
}

/** Ids come from the page's address, which a link may have made up: `..` in one would ask for something else. */
function isOther(path: string): boolean {
  const asked = `/internal${path.replace(/[?#].*$/s, "")}`;
  return new URL(asked, "http://service").pathname !== asked;
}

/** What a proxy in between answers is no problem document. */
function parseProblem(status: number, text: string): Pick<Problem, "status" | "code" | "detail"> {
  try {
    const { code, detail } = JSON.parse(text) as Problem;
    return { status, code, detail };
  } catch {
    return { status, code: "unknown", detail: `The service answered ${status}. Try again in a moment.` };
  }
}

/** For people. */
export function messageOf(error: unknown): string {
  if (error instanceof ProblemError) return error.message;
  return "The service can not be reached. Check that it runs, and your connection to it.";
}
