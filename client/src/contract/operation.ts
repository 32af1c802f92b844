import type { Static, TSchema } from "typebox";
import type { ApiErrorCode } from "./api-errors.ts";
import type { Permission } from "./permission.ts";

/** Authentication by API key (`Authorization: Bearer`), by signed URL, or by either. */
export type Access = "key" | "key or url" | "url";

/**
 * An operation of the public API. The server's route, the OpenAPI document and the client's types are derived from it.
 */
export interface Operation {
  id: string;
  method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path parameters are written `{name}`. Their values are opaque. */
  path: string;
  group: "Videos" | "Transcriptions" | "Uploads" | "Webhook endpoints" | "Files";
  summary: string;
  description: string;
  access: Access;
  /** The permission that a key needs; null if the operation does not accept keys. */
  permission: Permission | null;
  /** Descriptions of the path parameters, keyed by name. */
  params?: Record<string, string>;
  query?: TSchema;
  body?: TSchema;
  bodyExample?: unknown;
  /** Maximum size of the body, if it differs from that of other operations. */
  maxBodyBytes?: number;
  /** Media type of a body that is not JSON. */
  bodyMediaType?: string;
  requestHeaders?: Record<string, { description: string; required: boolean; example: string }>;
  success: {
    status: 200 | 201 | 202 | 204;
    description: string;
    body: TSchema | null;
    example?: unknown;
    /** Schemas by media type, if the body is a file. */
    files?: Record<string, TSchema>;
    /** Descriptions of the response headers, keyed by name. */
    headers?: Record<string, string>;
    /** Description of the 206 response; set only if the operation supports range requests. */
    partial?: string;
  };
  /** Errors specific to the operation; `errorCodesOf` adds the common ones. */
  errors: readonly ApiErrorCode[];
  /** Whether requests count toward the key's rate limit. */
  rateLimited: boolean;
  /** Returned instead of any 5xx, after which common tus clients would start a second upload. */
  serverErrorReplacement?: ApiErrorCode;
}

type SchemaOf<T> = T extends TSchema ? Static<T> : undefined;

export type ParamsOf<O extends Operation> = { [Name in keyof O["params"]]: string };
export type QueryOf<O extends Operation> = O extends { query: infer S } ? SchemaOf<S> : undefined;
export type BodyOf<O extends Operation> = O extends { body: infer S } ? SchemaOf<S> : undefined;
export type SuccessOf<O extends Operation> = SchemaOf<O["success"]["body"]>;

/** Returns whether the operation honors `Idempotency-Key`, so that a repeated request is not run again. */
export function acceptsIdempotencyKey({ method }: Operation): boolean {
  return method === "POST" || method === "PUT";
}

/** Returns the errors of an operation, including those that all operations share. */
export function errorCodesOf(operation: Operation): ApiErrorCode[] {
  const { access, permission, body, errors, serverErrorReplacement } = operation;
  const codes: ApiErrorCode[] = [];
  // `rate_limited` does not depend on `rateLimited`, because attempts with invalid keys are always limited.
  if (access !== "url") codes.push("missing_api_key", "invalid_api_key", "rate_limited");
  if (permission !== null) codes.push("insufficient_permission");
  // Invalid HTTP, a missing `Host` header, or a path that cannot be decoded.
  codes.push("invalid_request");
  if (body) codes.push("request_timeout", "payload_too_large", "unsupported_media_type");
  if (acceptsIdempotencyKey(operation)) codes.push("idempotency_key_reused", "idempotency_key_in_use");
  codes.push(...errors);
  codes.push("headers_too_large");
  codes.push(
    ...(serverErrorReplacement
      ? [serverErrorReplacement]
      : (["internal_error", "service_unavailable"] as const)),
  );
  return [...new Set(codes)];
}
