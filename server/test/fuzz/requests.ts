import fc from "fast-check";
import {
  type Components,
  corruptedValue,
  type Json,
  nastyText,
  type Schema,
  validValue,
} from "./schema-values.ts";

/** A resource in a request: the one with this number among its owner's known resources, or an invalid id. */
export type Reference =
  | { owner: "sender" | "other" | "passive"; number: number }
  | { owner: "nobody"; text: string };

/** Kinds of the sender's keys. The last four do not grant access. */
const KEY_KINDS = [
  "all",
  "get_video",
  "create_video",
  "delete_video",
  "manage_webhooks",
  "expired",
  "revoked",
  "broken",
  "missing",
] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** A generated request whose ids are filled in when it is sent. */
export interface FuzzRequest {
  operationId: string;
  /** Usually the operation's method. */
  method: string;
  /** Path of the operation, with parameters as `{name}`. */
  path: string;
  ids: Record<string, Reference>;
  /** Whether to send it to a signed URL from an earlier response, if the operation supports one. */
  signed: boolean;
  /** Appended to the path. */
  pathSuffix: string | null;
  query: [string, string][];
  /** Index of the tenant in `Tenants.active`. */
  sender: 0 | 1;
  key: KeyKind;
  headers: [string, string][];
  body: Uint8Array | null;
}

interface OpenApiOperation {
  operationId: string;
  parameters?: { name: string; in: string; required: boolean; schema: Schema; example?: string }[];
  requestBody?: { content: Record<string, { schema?: Schema; example?: Json }> };
  "x-permission"?: string;
}

export interface OpenApi {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Components };
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "M-SEARCH"];

const CONTENT_TYPES = [
  "text/plain",
  "application/json",
  "application/json; charset=utf-16",
  "application/json;charset=",
  "APPLICATION/JSON",
  "application/problem+json",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "application/offset+octet-stream",
  "application/json, text/plain",
  ";",
  "/",
  "a".repeat(500),
];

const BROKEN_JSON = [
  "",
  " ",
  "{",
  "}",
  "null",
  "[]",
  '""',
  "0",
  "1e999",
  "{'a':1}",
  '{"a":1,}',
  '{"a":1}{"b":2}',
  '{"url":"https://a.example","url":1}',
  '{"__proto__":{"enabled":true}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"metadata":{"__proto__":{"a":"b"}}}',
  '{"sizeBytes":1,"metadata":{"__proto__":"b"}}',
  '{"sizeBytes":1e1}',
  '{"sizeBytes":10.0}',
  '{"sizeBytes":9007199254740993}',
  '\ufeff{"sizeBytes":1}',
  "\u0000",
  "[".repeat(100_000),
  `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`,
  `{"url":"https://a.example","metadata":{"a":${"[".repeat(1_500)}${"]".repeat(1_500)}}}`,
  `{"url":"${"x".repeat(300_000)}"}`,
];

const number = fc.oneof(
  fc.nat(20).map(String),
  fc.constantFrom("-1", "", "NaN", "1e3", "0x10", " 4", "4,4", "99999999999999999999", "1.5", "+4"),
);

/** Plausible and invalid values. */
const HEADERS: Record<string, fc.Arbitrary<string>> = {
  "Idempotency-Key": fc.constantFrom("a", "b", "c", "d", "", " ", "two words", "x".repeat(256), "\u00e9"),
  "Tus-Resumable": fc.constantFrom("1.0.0", "1.0.0", "1.0", "0.2.2", "", "1.0.0, 1.0.0"),
  "Upload-Length": number,
  "Upload-Offset": number,
  "Upload-Defer-Length": fc.constantFrom("1", "0", "2", ""),
  "Upload-Concat": fc.constantFrom("partial", "final;/api/v1/uploads/a /api/v1/uploads/b", "x"),
  "Upload-Checksum": fc.constantFrom("sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=", "md5 x", ""),
  "Upload-Metadata": fc.constantFrom(
    "filename bWVldGluZy5tcDQ=",
    "filename bWVldGluZy5tcDQ=,filename eA==",
    "a",
    "a ",
    "a !!!!",
    ",",
    "__proto__ eA==",
    "constructor eA==,toString eA==",
    "nul AA==",
    "half 7aCA",
    `long ${"eHh4".repeat(1500)}`,
    "\u00e9 eA==",
  ),
  Origin: fc.constantFrom("https://app.example", "null", "", "x", "https://a.example, https://b.example"),
  Range: fc.constantFrom(
    "bytes=0-1",
    "bytes=-1",
    "bytes=5-1",
    "bytes=0-0,2-3",
    "lines=1",
    "bytes=99999999999999999-",
  ),
  "If-None-Match": fc.constantFrom("*", '"a"', "W/", ""),
  "If-Modified-Since": fc.constantFrom("x", "Thu, 01 Jan 1970 00:00:00 GMT"),
  Accept: fc.constantFrom("text/html", "application/xml", "*/*;q=0", ""),
  "Accept-Version": fc.constantFrom("1.x", "nonsense"),
  "Content-Encoding": fc.constantFrom("gzip", "br", "identity", "x"),
  Expect: fc.constantFrom("100-continue", "200-ok"),
  "X-HTTP-Method-Override": fc.constantFrom("DELETE", "PATCH", "GET"),
  "X-Forwarded-For": fc.constantFrom("127.0.0.1", "x", "::1, 10.0.0.1"),
  "X-Forwarded-Host": fc.constantFrom("evil.example", "", "a b"),
  "X-Request-ID": nastyText,
  "Access-Control-Request-Method": fc.constantFrom("PATCH", "x"),
  Cookie: nastyText,
  "X-Odd": nastyText,
};

const PATH_SUFFIXES = [
  "//",
  "/.",
  "/..",
  "%2e%2e/",
  "%2f",
  "%00",
  "%zz",
  "%",
  ";a=b",
  "/%20",
  "\\",
  "%c0%af",
  "/x",
];

/** Generates valid and invalid requests for all operations. */
export function anyRequest(api: OpenApi): fc.Arbitrary<FuzzRequest> {
  const operations = Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      // Keep resources for later requests.
      weight: method === "delete" ? 1 : 3,
      arbitrary: anyRequestFor(path, method.toUpperCase(), operation, api),
    })),
  );
  return fc.oneof(...operations);
}

function anyRequestFor(
  path: string,
  method: string,
  operation: OpenApiOperation,
  { components: { schemas } }: OpenApi,
): fc.Arbitrary<FuzzRequest> {
  const { operationId, parameters = [], requestBody } = operation;
  const names = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
  const permission = (operation["x-permission"] ?? "all") as KeyKind;
  return fc.record<FuzzRequest>({
    operationId: fc.constant(operationId),
    method: rarely(fc.constantFrom(...METHODS), fc.constant(method)),
    path: fc.constant(path),
    ids: fc.record(Object.fromEntries(names.map((name) => [name, reference]))),
    signed: fc.boolean(),
    pathSuffix: rarely<string | null>(fc.constantFrom(...PATH_SUFFIXES), fc.constant(null)),
    query: anyQuery(parameters, schemas),
    sender: fc.constantFrom<0 | 1>(0, 1),
    key: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom<KeyKind>("all", permission) },
      fc.constantFrom<KeyKind>(...KEY_KINDS),
    ),
    headers: anyHeaders(parameters, requestBody),
    body: anyBody(requestBody, schemas),
  });
}

const reference: fc.Arbitrary<Reference> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ owner: fc.constant("sender" as const), number: fc.nat(1000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      owner: fc.constantFrom("other" as const, "passive" as const),
      number: fc.nat(1000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ owner: fc.constant("nobody" as const), text: nastyText }) },
);

function rarely<T>(rare: fc.Arbitrary<T>, usual: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: rare });
}

function anyQuery(
  parameters: NonNullable<OpenApiOperation["parameters"]>,
  components: Components,
): fc.Arbitrary<[string, string][]> {
  const known = parameters.filter((parameter) => parameter.in === "query");
  const valid = known.map(({ name, schema }) =>
    validValue(schema, components).map((value): [string, string] => [name, String(value)]),
  );
  const names = fc.constantFrom("limit", "cursor", "status", "__proto__", "expires", "signature", "a[b]", "");
  const invalid = fc.tuple(names, nastyText);
  // Few names make duplicates likely.
  const parameterList = fc.array(fc.oneof(...valid, invalid), { maxLength: 4 });
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant<[string, string][]>([]) },
    parameterList,
  ) as fc.Arbitrary<[string, string][]>;
}

function anyHeaders(
  parameters: NonNullable<OpenApiOperation["parameters"]>,
  requestBody: OpenApiOperation["requestBody"],
): fc.Arbitrary<[string, string][]> {
  const usual = parameters
    .filter((parameter) => parameter.in === "header" && parameter.example !== undefined)
    .map(({ name, example }): [string, string] => [name, example!]);
  const [type] = Object.keys(requestBody?.content ?? {});
  const odd = fc.oneof(
    ...Object.entries(HEADERS).map(([name, values]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  );
  return fc
    .record({
      usual: fc.subarray(usual, { minLength: Math.max(0, usual.length - 1) }),
      all: fc.boolean(),
      type: rarely(fc.constantFrom(...CONTENT_TYPES, null), fc.constant(type ?? null)),
      odd: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(odd, { maxLength: 3 })),
    })
    .map(({ usual: some, all, type, odd }) => [
      ...(all ? usual : some),
      ...(type === null ? [] : [["Content-Type", type] as [string, string]]),
      ...odd,
    ]);
}

function anyBody(
  requestBody: OpenApiOperation["requestBody"],
  components: Components,
): fc.Arbitrary<Uint8Array | null> {
  const [content] = Object.values(requestBody?.content ?? {});
  const broken = fc.oneof(
    fc.constantFrom(...BROKEN_JSON).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 40 }),
  );
  if (!content) return rarely<Uint8Array | null>(broken, fc.constant(null));
  if (!content.schema) return fc.oneof(fc.uint8Array({ maxLength: 20 }), broken);
  const json = (value: unknown) => Buffer.from(JSON.stringify(value));
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(json(content.example)) },
    { weight: 3, arbitrary: validValue(content.schema, components).map(json) },
    { weight: 3, arbitrary: corruptedValue(content.schema, components).map(json) },
    { weight: 1, arbitrary: broken },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}
