import type { Static, TSchema } from "typebox";
import type { OperatorRole } from "../../db/enums.ts";

/**
 * Who may call an operation:
 * - `anyone`: no sign-in is needed.
 * - `session`: any signed-in operator, but not the command line, which has no account.
 * - roles: operators with one of these roles, and the command line.
 * - `command line`: only the command line on the service's machine.
 */
export type Callers = "anyone" | "session" | "command line" | readonly OperatorRole[];

export interface Operation {
  callers: Callers;
  /**
   * Whether an operator needs the role in all environments or in at least one. Omitted if the path identifies an
   * environment or a resource in one; the operator then needs the role in that environment.
   */
  roleIn?: "all environments" | "any environment";
  query?: TSchema;
  body?: TSchema;
  maxBodyBytes?: number;
  /** The caller must send the ETag of what it changes as `If-Match`. */
  needsIfMatch?: true;
  /** Status code of a successful response; 200 if not set. */
  status?: 201 | 202 | 204;
  response: ResponseType<unknown> | typeof RAW;
  /** The operation checks a password or a secret link, so attempts are limited per client address. */
  isGuessable?: true;
  noHead?: true;
}

/** Operations, keyed by method and path below `/internal`, e.g. `GET /environments/:environment`. */
export type OperationTable = Record<
  `${"GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`,
  Operation
>;

/** Carries the type of a JSON response. Empty at run time. */
export interface ResponseType<T> {
  readonly type?: T;
}

export function json<T>(): ResponseType<T> {
  return {};
}

export type Empty = Record<string, never>;

/** A response that is not JSON: a file or a stream. */
export const RAW = { raw: true } as const;

export type ParamsOf<Key extends string> = Key extends `${string}:${infer Name}/${infer Rest}`
  ? { [Param in Name]: string } & ParamsOf<`/${Rest}`>
  : Key extends `${string}:${infer Name}`
    ? { [Param in Name]: string }
    : unknown;
export type QueryOf<O> = O extends { query: infer Schema extends TSchema } ? Static<Schema> : undefined;
export type BodyOf<O> = O extends { body: infer Schema extends TSchema } ? Static<Schema> : undefined;
export type ResponseOf<O> = O extends { response: typeof RAW }
  ? unknown
  : O extends { response: ResponseType<infer Response> }
    ? Response
    : never;

type IsOptional<T, Key extends keyof T> = Partial<Pick<T, Key>> extends Pick<T, Key> ? true : false;
/** `T` with optional keys that also accept `undefined`. */
type Lenient<T> = { [Key in keyof T]: IsOptional<T, Key> extends true ? T[Key] | undefined : T[Key] };
type Present<Name extends string, T> = [T] extends [undefined]
  ? unknown
  : Partial<T> extends T
    ? { [Key in Name]?: Lenient<T> }
    : { [Key in Name]: Lenient<T> };

export type InputOf<Key extends string, O> = (unknown extends ParamsOf<Key>
  ? unknown
  : { params: ParamsOf<Key> }) &
  Present<"query", QueryOf<O>> &
  Present<"body", BodyOf<O>> &
  (O extends { needsIfMatch: true } ? { ifMatch: string } : unknown);

/** The arguments of a client call. The input is optional if none of its parts is required. */
export type Arguments<Input> = Partial<Input> extends Input ? [input?: Input] : [input: Input];

/** Returns a request's path below `/internal`, including its query string. */
export function pathOf(
  operation: string,
  { params = {}, query = {} }: { params?: object; query?: object } = {},
): string {
  const values = new Map<string, unknown>(Object.entries(params));
  const path = operation
    .slice(operation.indexOf("/"))
    .replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(values.get(name))));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? path : `${path}?${search}`;
}
