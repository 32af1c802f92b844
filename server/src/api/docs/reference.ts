import { API_ERRORS } from "@subtext/client/contract/api-errors";
import { EVENTS } from "@subtext/client/contract/examples";
import { ALL_OPERATIONS } from "@subtext/client/contract/openapi";
import { errorCodesOf, isIdempotent, type Operation } from "@subtext/client/contract/operation";
import { WEBHOOK_EVENTS } from "@subtext/client/contract/webhook";
import { describeRetryDelays } from "../../webhooks/schedule.ts";
import { escapeHtml, renderCode } from "./html.ts";

/** The supported subset of JSON Schema. */
interface ShownSchema {
  $id?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  "x-extensible-enum"?: unknown[];
  anyOf?: ShownSchema[];
  items?: ShownSchema;
  properties?: Record<string, ShownSchema>;
  patternProperties?: Record<string, ShownSchema>;
  required?: string[];
  description?: string;
  minimum?: number;
  maximum?: number;
}

/** The reference's URL path. */
export const REFERENCE_ADDRESS = "/docs/api-reference";

export interface ApiReference {
  body: string;
  sections: { id: string; title: string }[];
}

/** The API reference, generated from the contract. Texts of the contract may contain `code` in backticks. */
export function renderReference({ serverUrl }: { serverUrl: string }): ApiReference {
  const groups = Map.groupBy(ALL_OPERATIONS, ({ group }) => group);
  const schemas = namedSchemas();
  const sections = [
    { id: "access", title: "Access" },
    { id: "conventions", title: "Conventions" },
    ...[...groups.values()].flatMap((operations) =>
      operations.map(({ id, summary }) => ({ id, title: summary })),
    ),
    { id: "webhooks", title: "Webhooks" },
    { id: "schemas", title: "Schemas" },
  ];
  const body = `<h1>API reference</h1>
<p>Made from the same contract that the service validates with; programs read it at
<a href="/api/openapi.json">/api/openapi.json</a> (OpenAPI 3.1). How the parts fit together is described in
<a href="/docs/api">The API</a>, what each error means in <a href="/docs/errors">Errors</a>.</p>
${conventions(serverUrl)}
${[...groups].map(([group, operations]) => `<h2>${group}</h2>\n${operations.map((operation) => renderOperation(operation)).join("\n")}`).join("\n")}
<h2 id="webhooks">Webhooks</h2>
<p>Bodies that endpoints are sent, by their <code>type</code>. Signed as
<a href="https://www.standardwebhooks.com">Standard Webhooks</a> asks, sent at least once and in no promised order;
<code>webhook-id</code> stays the same at every attempt. Only 2xx within 15 seconds is success. Failed
deliveries are retried after ${describeRetryDelays()}. <code>Retry-After</code> is honored, redirects are not followed, and
410 disables the endpoint. <a href="/docs/webhooks">How to receive and verify them</a>.</p>
${Object.entries(WEBHOOK_EVENTS)
  .map(
    ([type, schema]) => `<section id="${type}">
<h3><code>${type}</code></h3>
${renderProperties(schema as ShownSchema)}
<details><summary>Example</summary>${renderJson(EVENTS[type as keyof typeof EVENTS])}</details>
</section>`,
  )
  .join("\n")}
<h2 id="schemas">Schemas</h2>
${[...schemas]
  .map(
    ([id, schema]) => `<section id="${id}">
<h3>${id}</h3>
${schema.description ? `<p>${prose(schema.description)}</p>` : ""}
${renderProperties(schema)}
</section>`,
  )
  .join("\n")}`;
  return { body, sections };
}

function conventions(serverUrl: string): string {
  return `<h2 id="access">Access</h2>
<p>Send an API key of the environment as <code>Authorization: Bearer subtext_…</code>. Keys have permissions; checks
are made in the order key, rate, permission, resource. What belongs to another environment is answered like what does
not exist.</p>
${renderCode(`export SUBTEXT_URL=${serverUrl}\nexport SUBTEXT_API_KEY=subtext_…`)}
<h2 id="conventions">Conventions</h2>
<ul>
<li>Times are ISO 8601 in UTC with milliseconds; ids are opaque, at most 64 characters.</li>
<li>Lists come newest first in pages: <code>limit</code>, and <code>cursor</code> with the <code>nextCursor</code> of
the page before.</li>
<li>Errors are <code>application/problem+json</code> (RFC 9457); <code>code</code> is stable.</li>
<li><code>Idempotency-Key</code> on a POST of JSON: for 24 hours the same request with the same key is answered as the
first was, with <code>Idempotency-Replayed: true</code>, and does nothing again.</li>
<li>429 and 503 say in <code>Retry-After</code> how many seconds to wait.</li>
<li>Within v1 fields may be added to answers; ignore those that you do not know.</li>
</ul>`;
}

function renderOperation(operation: Operation): string {
  const { id, method, path, summary, description, permission, query, body, params, success } = operation;
  const rows = [
    ...Object.entries(params ?? {}).map(([name, text]) => [name, "path", text]),
    ...Object.entries((query as ShownSchema | undefined)?.properties ?? {}).map(([name, schema]) => [
      name,
      "query",
      `${schema.description ?? ""} <span class="type">${renderType(schema)}</span>`,
    ]),
    ...Object.entries(operation.requestHeaders ?? {}).map(([name, header]) => [
      name,
      "header",
      header.description,
    ]),
    ...(isIdempotent(operation) ? [["Idempotency-Key", "header", "1 to 255 printable characters"]] : []),
  ];
  return `<section id="${id}">
<h3><a href="#${id}">${escapeHtml(summary)}</a></h3>
<p class="route"><span class="method">${method}</span> ${escapeHtml(path)}</p>
<p>${prose(description)}${permission ? ` Needs <code>${permission}</code>.` : ""}</p>
${rows.length > 0 ? `<table><thead><tr><th>Parameter</th><th>In</th><th>Meaning</th></tr></thead><tbody>${rows.map(([name, place, text]) => `<tr><td><code>${name}</code></td><td>${place}</td><td>${ticked(text ?? "")}</td></tr>`).join("")}</tbody></table>` : ""}
${body ? `<h4>Body: ${renderType(body as ShownSchema)}</h4>\n${renderProperties(body as ShownSchema)}` : ""}
<h4>Request</h4>
${renderCode(curlOf(operation))}
<h4>${success.status} ${escapeHtml(success.description)}${success.body ? `: ${renderType(success.body as ShownSchema)}` : ""}</h4>
${success.example === undefined ? "" : `<details><summary>Example</summary>${renderJson(success.example)}</details>`}
<h4>Errors</h4>
<p>${errorCodesOf(operation)
    .map((code) => `<a href="/docs/errors#${code}"><code>${code}</code></a> ${API_ERRORS[code].status}`)
    .join(", ")}</p>
</section>`;
}

/** A command that runs as is, once the two variables and the ids are set. */
function curlOf(operation: Operation): string {
  const { method, path, access, bodyExample, bodyMediaType, requestHeaders = {} } = operation;
  if (operation.group === "Files") return `curl --fail "$FILE_URL"`;
  const address = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => `$${screamingCase(name)}`);
  const lines = [`curl "$SUBTEXT_URL${address}"`];
  if (method === "HEAD") lines[0] = lines[0]!.replace("curl", "curl --head");
  else if (method !== "GET" && !(method === "POST" && bodyExample !== undefined))
    lines.push(`--request ${method}`);
  if (access !== "url") lines.push(`--header "Authorization: Bearer $SUBTEXT_API_KEY"`);
  for (const [name, { example }] of Object.entries(requestHeaders))
    lines.push(`--header "${name}: ${example}"`);
  if (bodyMediaType !== undefined)
    lines.push(`--header "Content-Type: ${bodyMediaType}"`, "--data-binary @meeting.mp4");
  if (bodyExample !== undefined) lines.push(`--json '${JSON.stringify(bodyExample)}'`);
  return lines.join(" \\\n  ");
}

function screamingCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function renderProperties(schema: ShownSchema): string {
  const { properties, required = [] } = schema;
  if (!properties) return "";
  const rows = Object.entries(properties).map(([name, property]) => {
    const optional = required.includes(name) ? "" : " <em>optional</em>";
    const inner = property.$id === undefined ? renderProperties(property) : "";
    return `<tr><td><code>${escapeHtml(name)}</code></td><td><span class="type">${renderType(property)}${optional}</span></td><td>${prose(property.description ?? "")}${inner}</td></tr>`;
  });
  return `<table><thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function renderType(schema: ShownSchema): string {
  if (schema.$id !== undefined) return `<a href="#${schema.$id}">${schema.$id}</a>`;
  if (schema.const !== undefined) return `<code>${escapeHtml(String(schema.const))}</code>`;
  const words = schema.enum ?? schema["x-extensible-enum"];
  if (words) return words.map((word) => `<code>${escapeHtml(String(word))}</code>`).join(" | ");
  if (schema.anyOf) return schema.anyOf.map(renderType).join(" | ");
  if (schema.items) return `list of ${renderType(schema.items)}`;
  const bounds = [
    ...(schema.minimum !== undefined ? [`≥ ${schema.minimum}`] : []),
    ...(schema.maximum !== undefined ? [`≤ ${schema.maximum}`] : []),
  ].join(", ");
  return `${schema.type ?? "any"}${bounds && ` ${bounds}`}`;
}

/** Every named schema of an operation's request or responses, including nested ones. */
function namedSchemas(): Map<string, ShownSchema> {
  const found = new Map<string, ShownSchema>();
  const visit = (schema: ShownSchema): void => {
    if (schema.$id !== undefined) {
      if (found.has(schema.$id)) return;
      found.set(schema.$id, schema);
    }
    const inner = [
      ...Object.values(schema.properties ?? {}),
      ...Object.values(schema.patternProperties ?? {}),
      ...(schema.anyOf ?? []),
      ...(schema.items ? [schema.items] : []),
    ];
    inner.forEach(visit);
  };
  for (const { body, success } of ALL_OPERATIONS) {
    for (const schema of [body, success.body]) if (schema) visit(schema as ShownSchema);
  }
  return found;
}

function renderJson(value: unknown): string {
  return renderCode(JSON.stringify(value, null, 2));
}

function prose(text: string): string {
  return ticked(escapeHtml(text));
}

function ticked(html: string): string {
  return html.replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}
