import { requireArgument, requireDuration, requireObject, requireSignal } from "./arguments.ts";
import { ROUTES } from "./contract/routes.ts";
import { SubtextError } from "./errors.ts";
import { exchange, type Fetch, readJson } from "./exchange.ts";
import { Pacer } from "./pacer.ts";
import { Retries, type RetryPolicy } from "./retry.ts";
import type { Operations } from "./types.ts";

export interface RequestOptions {
  /** Aborts the call and its retries; the call then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Timeout of each request; a call may make several. */
  timeoutMs?: number | undefined;
}

/** Options of calls that create or trigger something. */
export interface PostOptions extends RequestOptions {
  /**
   * For 24 hours, the service runs an operation only once per key and repeats its response to retries. By default every
   * call creates a key. Pass a key if your program may repeat the call, e.g. after a crash.
   */
  idempotencyKey?: string | undefined;
}

export interface TransportOptions {
  baseUrl: string;
  apiKey: string | null;
  fetch: Fetch;
  timeoutMs: number;
  retry: RetryPolicy;
}

interface Call<Id extends keyof Operations> {
  params?: Operations[Id]["params"];
  query?: Operations[Id]["query"];
  body?: Operations[Id]["body"];
  /** Sent as `If-Match`. */
  ifMatch?: string;
}

/** Calls API operations with authentication, retries and rate limiting. */
export class Transport {
  readonly options: TransportOptions;
  readonly #pacer = new Pacer();

  constructor(options: TransportOptions) {
    this.options = options;
  }

  async call<Id extends keyof Operations>(
    id: Id,
    call: Call<Id>,
    options: PostOptions = {},
  ): Promise<Operations[Id]["success"]> {
    return (await this.callForHeaders(id, call, options)).body;
  }

  /** @throws SubtextError */
  async callForHeaders<Id extends keyof Operations>(
    id: Id,
    { params, query, body, ifMatch }: Call<Id>,
    options: PostOptions & { isBackground?: boolean } = {},
  ): Promise<{ body: Operations[Id]["success"]; headers: Headers }> {
    requireObject(options, "options");
    requireObject(query ?? {}, "query");
    const { baseUrl, apiKey, retry } = this.options;
    const { signal, timeoutMs = this.options.timeoutMs, idempotencyKey, isBackground } = options;
    requireDuration(timeoutMs, "timeoutMs");
    requireSignal(signal);
    const isKey = idempotencyKey === undefined || /^[!-~]{1,255}$/.test(idempotencyKey);
    requireArgument(isKey, "idempotencyKey", "1 to 255 printable ASCII characters without spaces");
    const [method = "", path = ""] = ROUTES[id].split(" ");
    const url = baseUrl + fillRoute(path, { ...params }, { ...query });
    const init: RequestInit = {
      method,
      headers: {
        accept: "application/json",
        ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(ifMatch !== undefined && { "if-match": ifMatch }),
        ...((method === "POST" || method === "PUT") && {
          "idempotency-key": idempotencyKey ?? newIdempotencyKey(),
        }),
      },
      ...(body !== undefined && { body: toJson(body) }),
    };
    const fetch: Fetch = async (...request) => {
      const response = await this.options.fetch(...request);
      this.#pacer.observe(response.headers);
      return response;
    };
    const retries = new Retries(retry, signal);
    let mayHaveSucceeded = false;
    for (;;) {
      await this.#pacer.begin({ isBackground, signal });
      try {
        return await exchange(fetch, url, init, { timeoutMs, signal }, async (response) => ({
          body: (response.status === 204 ? undefined : await readJson(response)) as Operations[Id]["success"],
          headers: response.headers,
        })).finally(() => this.#pacer.end());
      } catch (error) {
        // An earlier attempt has probably deleted the resource, but its response was lost.
        if (
          method === "DELETE" &&
          mayHaveSucceeded &&
          error instanceof SubtextError &&
          error.status === 404
        ) {
          return { body: undefined as Operations[Id]["success"], headers: new Headers() };
        }
        mayHaveSucceeded ||= !(error instanceof SubtextError) || error.status === null || error.status >= 500;
        await retries.pause(error);
      }
    }
  }
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new SubtextError({
      code: "invalid_argument",
      detail: `The value cannot be serialized as JSON: ${cause}.`,
      cause,
    });
  }
}

/** Browsers do not provide `crypto.randomUUID` to pages loaded without TLS. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Fills in the path parameters and appends the query.
 * @throws SubtextError `invalid_argument` for an ID that would change the path
 */
export function fillRoute(
  path: string,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, unknown>>,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    // "." and ".." would resolve to another path, and "" to the path of the list operation.
    const isIdentifier =
      typeof value === "string" && !/^\.{0,2}$/.test(value) && !/\p{Surrogate}/u.test(value);
    requireArgument(isIdentifier, name, "an identifier");
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.append(name, String(value));
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}
