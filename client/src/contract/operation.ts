import type { Static, TSchema } from "typebox";
import type { ApiErrorCode } from "./api-errors.ts";
import type { Permission } from "./permission.ts";

/** Who may ask: `key` with `Authorization: Bearer`, `key or url` also by a signed URL, `url` by that alone. */
export type Access = "key" | "key or url" | "url";

/** One operation of the public API: what the server registers, OpenAPI tells and the client calls. */
export interface Operation {
  id: string;
  method: "GET" | "HEAD" | "POST" | "PATCH" | "DELETE";
  /** With `{name}` for what varies; every value of it is a text that is looked up, never parsed. */
  path: string;
  group: "Videos" | "Transcriptions" | "Uploads" | "Webhook endpoints" | "Files";
  summary: string;
  description: string;
  access: Access;
  /** Null where no key is asked for. */
  permission: Permission | null;
  /** By name in the path. */
  params?: Record<string, string>;
  query?: TSchema;
  body?: TSchema;
  /** What a client may send as the body; every one of them passes `body`. */
  bodyExample?: unknown;
  /** Of bodies that are no JSON. */
  bodyMediaType?: string;
  requestHeaders?: Record<string, { description: string; required: boolean; example: string }>;
  success: {
    status: 200 | 201 | 202 | 204;
    description: string;
    body: TSchema | null;
    example?: unknown;
    /** Of a body that is a file: what it holds, by the media type that it may have. */
    files?: Record<string, TSchema>;
    headers?: Record<string, string>;
  };
  /** Those of its own; `errorCodesOf` adds what any request may meet. */
  errors: readonly ApiErrorCode[];
  /** Whether the rate limit of the key counts it. */
  rateLimited: boolean;
  /** What it answers instead of any 5xx: stock clients take one for the end of what they ask about. */
  insteadOfFault?: ApiErrorCode;
}

type SchemaOf<T> = T extends TSchema ? Static<T> : undefined;

export type ParamsOf<O extends Operation> = { [Name in keyof O["params"]]: string };
export type QueryOf<O extends Operation> = O extends { query: infer S } ? SchemaOf<S> : undefined;
export type BodyOf<O extends Operation> = O extends { body: infer S } ? SchemaOf<S> : undefined;
export type SuccessOf<O extends Operation> = SchemaOf<O["success"]["body"]>;

/** Whether a retry with the same `Idempotency-Key` is answered as the first request was. */
export function isIdempotent({ method }: Operation): boolean {
  return method === "POST";
}

/** Every error that an operation may answer with, without repetition. */
export function errorCodesOf(operation: Operation): ApiErrorCode[] {
  const { access, permission, body, errors, insteadOfFault } = operation;
  const codes: ApiErrorCode[] = [];
  if (access !== "url") codes.push("missing_api_key", "invalid_api_key", "rate_limited");
  if (permission !== null) codes.push("insufficient_permission");
  // What is no HTTP, names no host, or has a path that can not be decoded: before anything is looked up.
  codes.push("invalid_request");
  if (body) codes.push("request_timeout", "payload_too_large", "unsupported_media_type");
  if (isIdempotent(operation)) codes.push("idempotency_key_reused", "idempotency_key_in_use");
  codes.push(...errors);
  codes.push("headers_too_large");
  codes.push(...(insteadOfFault ? [insteadOfFault] : (["internal_error", "service_unavailable"] as const)));
  return [...new Set(codes)];
}
