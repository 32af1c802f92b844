import type { TSchema } from "typebox";
import { API_ERRORS, type ApiErrorCode } from "./api-errors.ts";
import { EVENTS } from "./examples.ts";
import { acceptsIdempotencyKey, errorCodesOf, type Operation } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { Problem } from "./problem.ts";
import { FILE_OPERATIONS, UPLOAD_OPERATIONS } from "./transfer-operations.ts";
import { type SentEventType, WEBHOOK_EVENTS, WEBHOOK_TIMEOUT_SECONDS } from "./webhook.ts";

type Json = Record<string, unknown>;

/** In the order of the documentation. */
export const ALL_OPERATIONS: readonly Operation[] = [
  ...Object.values(OPERATIONS),
  ...Object.values(UPLOAD_OPERATIONS),
  ...Object.values(FILE_OPERATIONS),
];

export function openApi({ version, serverUrl }: { version: string; serverUrl: string }): Json {
  const components = new Map<string, Json>();
  const paths: Record<string, Json> = {};
  for (const operation of ALL_OPERATIONS) {
    const item = paths[operation.path] ?? {};
    paths[operation.path] = item;
    item[operation.method.toLowerCase()] = describeOperation(operation, components);
  }
  const webhooks: Record<string, Json> = {};
  for (const [type, schema] of Object.entries(WEBHOOK_EVENTS)) {
    webhooks[type] = { post: describeEvent(type as SentEventType, schema, components) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Subtext",
      version,
      description:
        "Transcribes every uploaded video to captions, word timings and plain text, and announces the result with a signed webhook. Unknown query parameters are ignored. Later releases of v1 may add fields to responses.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(ALL_OPERATIONS.map(({ group }) => group))].map((name) => ({ name })),
    security: [{ apiKey: [] }],
    paths,
    webhooks,
    components: {
      schemas: Object.fromEntries(components),
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description:
            "An API key (`subtext_…`), which belongs to one environment and has its own permissions",
        },
        uploadUrl: {
          type: "apiKey",
          in: "query",
          name: "signature",
          description: "Part of the upload URL that `POST /api/v1/videos` returns; use the URL as is",
        },
      },
    },
  };
}

function describeOperation(operation: Operation, components: Map<string, Json>): Json {
  const { access } = operation;
  const key = { apiKey: [] };
  const security = { key: [key], "key or url": [key, { uploadUrl: [] }], url: [{}] }[access];
  return {
    operationId: operation.id,
    tags: [operation.group],
    summary: operation.summary,
    description: describePermission(operation),
    security,
    ...(operation.permission && { "x-permission": operation.permission }),
    parameters: [
      ...Object.entries(operation.params ?? {}).map(([name, description]) => ({
        name,
        in: "path",
        required: true,
        description,
        schema: { type: "string" },
      })),
      ...describeQuery(operation.query, components),
      ...describeHeaders(operation),
    ],
    ...describeBody(operation, components),
    responses: {
      ...describeSuccess(operation, components),
      ...describeErrors(operation, components),
    },
  };
}

function describeSuccess({ success }: Operation, components: Map<string, Json>): Json {
  const response = {
    description: success.description,
    ...(success.headers && {
      headers: Object.fromEntries(
        Object.entries(success.headers).map(([name, description]) => [
          name,
          { description, schema: { type: "string" } },
        ]),
      ),
    }),
    ...(success.files && {
      content: Object.fromEntries(
        Object.entries(success.files).map(([type, schema]) => [
          type,
          { schema: openSchemaRef(schema, components) },
        ]),
      ),
    }),
    ...(success.body && {
      content: {
        "application/json": { schema: openSchemaRef(success.body, components), example: success.example },
      },
    }),
  };
  return {
    [success.status]: response,
    ...(success.partial && { "206": { ...response, description: success.partial } }),
  };
}

function describePermission({ description, permission }: Operation): string {
  return permission === null ? description : `${description}\n\nRequires the \`${permission}\` permission.`;
}

function describeQuery(query: TSchema | undefined, components: Map<string, Json>): Json[] {
  if (!query) return [];
  const { properties, required = [] } = query as TSchema & {
    properties: Record<string, TSchema & { description?: string }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(schema.description !== undefined && { description: schema.description }),
    schema: schemaRef(schema, components),
  }));
}

function describeHeaders(operation: Operation): Json[] {
  const headers = Object.entries(operation.requestHeaders ?? {}).map(
    ([name, { description, required, example }]) => ({
      name,
      in: "header",
      required,
      description,
      schema: { type: "string" },
      example,
    }),
  );
  if (!acceptsIdempotencyKey(operation)) return headers;
  return [
    ...headers,
    {
      name: "Idempotency-Key",
      in: "header",
      required: false,
      description:
        "Up to 255 printable ASCII characters without spaces, unique for each operation. For 24 hours, repeating the request with the same key returns the first response without running the operation again.",
      schema: { type: "string", minLength: 1, maxLength: 255 },
    },
  ];
}

function describeBody({ body, bodyExample, bodyMediaType }: Operation, components: Map<string, Json>): Json {
  if (bodyMediaType !== undefined) {
    return { requestBody: { required: true, content: { [bodyMediaType]: {} } } };
  }
  if (!body) return {};
  return {
    requestBody: {
      required: true,
      content: { "application/json": { schema: schemaRef(body, components), example: bodyExample } },
    },
  };
}

function describeErrors(operation: Operation, components: Map<string, Json>): Json {
  const byStatus = Map.groupBy(errorCodesOf(operation), (code) => API_ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${API_ERRORS[code].title}.`).join(" "),
        "x-codes": codes,
        ...(operation.method !== "HEAD" && {
          content: {
            "application/problem+json": {
              schema: openSchemaRef(Problem, components),
              examples: Object.fromEntries(
                codes.map((code) => [code, { value: exampleProblem(code, operation) }]),
              ),
            },
          },
        }),
      },
    ]),
  );
}

function exampleProblem(code: ApiErrorCode, { path }: Operation): Problem {
  const { status, title } = API_ERRORS[code];
  return {
    type: `/docs/errors#${code}`,
    title,
    status,
    detail: `${title}.`,
    instance: path,
    code,
    requestId: "8b1f7c1e-52d4-4a8e-9f0a-2f1f6f0f3c11",
  };
}

function describeEvent(type: SentEventType, schema: TSchema, components: Map<string, Json>): Json {
  const header = (name: string, description: string) => ({
    name,
    in: "header",
    required: true,
    description,
    schema: { type: "string" },
  });
  return {
    // Code generators need an identifier: `onTranscriptionsTranscriptionCompleted`.
    operationId: `on${type.replaceAll(/(?:^|\.)(\w)/g, (_match, letter: string) => letter.toUpperCase())}`,
    summary: type,
    description: `Sent according to Standard Webhooks, at least once, in no guaranteed order. Only 2xx within ${WEBHOOK_TIMEOUT_SECONDS} seconds counts as success; redirects are not followed.`,
    security: [],
    parameters: [
      header("webhook-id", "Event ID; the same for every attempt"),
      header("webhook-timestamp", "Time of this attempt, in Unix seconds"),
      header(
        "webhook-signature",
        "`v1,` followed by a base64 HMAC-SHA256; one for each active secret, separated by spaces",
      ),
    ],
    requestBody: {
      required: true,
      content: { "application/json": { schema: openSchemaRef(schema, components), example: EVENTS[type] } },
    },
    responses: {
      "2XX": { description: "Received" },
      "410": { description: "Disables the endpoint" },
      default: { description: "Retried on the schedule; `Retry-After` is honored" },
    },
  };
}

/**
 * Like `schemaRef`, for the schema of a response or an event. Its objects accept unknown fields, because later releases of
 * v1 may add some.
 */
function openSchemaRef(schema: TSchema, components: Map<string, Json>): Json {
  return schemaRef(withoutClosedObjects(schema) as TSchema, components);
}

function withoutClosedObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutClosedObjects);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, part]) => name !== "additionalProperties" || part !== false)
      .map(([name, part]) => [name, withoutClosedObjects(part)]),
  );
}

/** Moves a schema that has an `$id` to the components and returns a reference. */
function schemaRef(schema: TSchema, components: Map<string, Json>): Json {
  const { $id, ...rest } = schema as TSchema & { $id?: string };
  if ($id === undefined) return convertMembers(rest, components);
  if (!components.has($id)) {
    components.set($id, {});
    components.set($id, convertMembers(rest, components));
  }
  return { $ref: `#/components/schemas/${$id}` };
}

function convertMembers(schema: Json, components: Map<string, Json>): Json {
  const convert = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(convert);
    if (typeof value !== "object" || value === null) return value;
    return schemaRef(value as TSchema, components);
  };
  return Object.fromEntries(
    Object.entries(describeMap(schema)).map(([name, value]) => [name, convert(value)]),
  );
}

/** TypeBox represents maps as `patternProperties`, which most code generators ignore. */
function describeMap(schema: Json): Json {
  if (schema.patternProperties === undefined) return schema;
  const { patternProperties, ...rest } = schema;
  const [[pattern, values] = [], ...others] = Object.entries(patternProperties as Json);
  if (pattern === undefined || others.length > 0) throw new Error("A map must have one pattern.");
  return {
    ...rest,
    ...(pattern !== "^.*$" && { propertyNames: { pattern } }),
    additionalProperties: values,
  };
}
