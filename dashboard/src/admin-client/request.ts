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

/** No response arrived: the network, or the server, is down. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super("Can't reach the server. Check your connection and that Subtext is running.", { cause });
    this.name = "UnreachableError";
  }
}

/** Whether the request did not reach the server: no response arrived, or a proxy answered for a server that is down. */
export function isUnreachable(error: unknown): boolean {
  return (
    error instanceof UnreachableError ||
    (error instanceof ProblemError && error.status >= 502 && error.status <= 504)
  );
}

/**
 * Calls the operators' API.
 * @param path below `/internal`
 * @returns the parsed response; undefined if it has no body
 * @throws ProblemError, UnreachableError; whatever aborted `signal`
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
  const { status, ok, text } = await send(`/internal${path}`, {
    method,
    ...(body !== undefined && {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
    ...(signal && { signal }),
  });
  if (!ok) throw new ProblemError(parseProblem(status, text));
  try {
    return (text === "" ? undefined : JSON.parse(text)) as T;
  } catch {
    throw new ProblemError(unexpected(status));
  }
}

async function send(url: string, init: RequestInit): Promise<{ status: number; ok: boolean; text: string }> {
  try {
    const response = await fetch(url, init);
    return { status: response.status, ok: response.ok, text: await response.text() };
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new UnreachableError(error);
  }
}

/** Ids come from the page's address, which a link may have made up: `..` in one would ask for something else. */
function isOther(path: string): boolean {
  const asked = `/internal${path.replace(/[?#].*$/s, "")}`;
  return new URL(asked, "http://service").pathname !== asked;
}

/** A proxy's own response is not a problem document. */
function parseProblem(status: number, text: string): Pick<Problem, "status" | "code" | "detail"> {
  try {
    const { code, detail } = JSON.parse(text) as Partial<Problem>;
    if (typeof code === "string" && typeof detail === "string") return { status, code, detail };
  } catch {
    // Not JSON.
  }
  return unexpected(status);
}

function unexpected(status: number): Pick<Problem, "status" | "code" | "detail"> {
  return {
    status,
    code: "unknown",
    detail: `Unexpected response (HTTP ${status}). Try again in a moment.`,
  };
}

/** A message for users. An error of the page itself keeps its own message, because a bug report needs it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
