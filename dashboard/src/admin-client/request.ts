import type { Problem } from "@subtext/client/contract/problem";
import {
  type Arguments,
  type InputOf,
  pathOf,
  type RAW,
  type ResponseOf,
} from "@subtext/server/admin/contract/operation";
import type { Operations } from "@subtext/server/admin/contract/operations";
import { problems } from "../messages/en/problems.ts";
import { ui } from "../messages/en/ui.ts";

/** An error response from the server, with a message for users. */
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

/** No response arrived. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super(ui.unreachable, { cause });
    this.name = "UnreachableError";
  }
}

/** Also returns true if a proxy responded because the server is down. */
export function isUnreachable(error: unknown): boolean {
  return (
    error instanceof UnreachableError ||
    (error instanceof ProblemError && error.status >= 502 && error.status <= 504)
  );
}

/** Whether the same request may succeed later. Also returns true if code of the page could not be loaded. */
export function isTemporary(error: unknown): boolean {
  return !(error instanceof ProblemError) || error.status >= 500 || error.status === 429;
}

type JsonOperation = {
  [Key in keyof Operations]: Operations[Key]["response"] extends typeof RAW ? never : Key;
}[keyof Operations];

/**
 * Calls an operation of the admin API, e.g. `request("GET /webhook-endpoints/:id", { params: { id } })`. The contract
 * determines the parameters and the result.
 * @returns the parsed response; undefined if it has no body
 * @throws ProblemError, UnreachableError, or the abort reason of `signal`
 */
export async function request<Key extends JsonOperation>(
  operation: Key,
  ...[input]: Arguments<InputOf<Key, Operations[Key]> & { signal?: AbortSignal }>
): Promise<ResponseOf<Operations[Key]>> {
  const { signal, body, ifMatch, ...rest }: AnyInput = input ?? {};
  const url = urlOfAny(operation, rest);
  const { status, ok, text } = await send(url, {
    method: operation.slice(0, operation.indexOf(" ")),
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(ifMatch !== undefined && { "if-match": ifMatch }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  if (!ok) throw new ProblemError(parseProblem(status, text));
  try {
    return (text === "" ? undefined : JSON.parse(text)) as ResponseOf<Operations[Key]>;
  } catch {
    throw new ProblemError(unexpected(status));
  }
}

/** Returns the URL of a GET operation, for links, media elements and event streams. */
export function urlOf<Key extends keyof Operations & `GET ${string}`>(
  operation: Key,
  input: InputOf<Key, Operations[Key]>,
): string {
  return urlOfAny(operation, input as AnyInput);
}

interface AnyInput {
  params?: object;
  query?: object;
  body?: unknown;
  ifMatch?: string;
  signal?: AbortSignal;
}

/** @throws ProblemError if an ID from the page's URL, such as `..`, changes the path */
function urlOfAny(operation: string, input: Pick<AnyInput, "params" | "query">): string {
  const url = `/internal${pathOf(operation, input)}`;
  const path = url.replace(/\?.*$/s, "");
  if (new URL(path, "http://service").pathname === path) return url;
  throw new ProblemError({
    status: 404,
    code: "route_not_found",
    detail: ui.nothingAtAddress,
  });
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

/** Parses a problem document. Returns a generic problem for any other body, such as a proxy's own response. */
function parseProblem(status: number, text: string): Pick<Problem, "status" | "code" | "detail"> {
  try {
    const { code, detail } = JSON.parse(text) as Partial<Problem>;
    if (typeof code === "string" && typeof detail === "string")
      return { status, code, detail: problems[code] ?? detail };
  } catch {
    // Not JSON.
  }
  return unexpected(status);
}

function unexpected(status: number): Pick<Problem, "status" | "code" | "detail"> {
  return {
    status,
    code: "unknown",
    detail: ui.unexpectedResponse(status),
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
