import type { TSchema } from "typebox";
import type { Operation } from "../src/contract/operation.ts";
import { OPERATIONS } from "../src/contract/operations.ts";
import { Problem } from "../src/contract/problem.ts";
import { TranscriptWord } from "../src/contract/transcription.ts";
import { WEBHOOK_EVENTS } from "../src/contract/webhook.ts";

/** The subset of JSON Schema that the contract uses; anything else fails the build. */
interface Schema {
  $id?: string;
  description?: string;
  type?: string;
  const?: string;
  enum?: string[];
  "x-extensible-enum"?: string[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
}

/** Returns `client/src/types.ts` as plain TypeScript, with the descriptions of the schemas as comments. */
export function writePlainTypes(): string {
  const named = new Map<string, string>();
  const operations = Object.values<Operation>(OPERATIONS).map((operation) => describe(operation, named));
  const events = Object.values<TSchema>(WEBHOOK_EVENTS).map((schema) => write(schema as Schema, named));
  write(Problem as Schema, named);
  write(TranscriptWord as Schema, named);
  return [
    ...[...named].map(([name, text]) => `export type ${name} = ${text};`),
    `/** Every body that a webhook endpoint can receive, discriminated by \`type\`. */\nexport type WebhookEvent = ${events.join(" | ")};`,
    `/** Input and output of each operation of the API, keyed by its ID. */\nexport interface Operations {\n${indented(operations)}\n}`,
    "",
  ].join("\n\n");
}

function describe(operation: Operation, named: Map<string, string>): string {
  const { id, method, path, description, params = {}, query, body, success } = operation;
  const typeOf = (schema: TSchema | null | undefined) =>
    schema ? write(schema as Schema, named) : "undefined";
  const variables = Object.entries(params).map(([name, text]) => `${comment(text)}${name}: string;`);
  const fields = [
    `method: "${method}";`,
    `path: "${path}";`,
    `params: {${variables.length > 0 ? `\n${indented(variables)}\n` : ""}};`,
    `query: ${typeOf(query)};`,
    `body: ${typeOf(body)};`,
    `success: ${typeOf(success.body)};`,
  ];
  return `${comment(description)}${id}: {\n${indented(fields)}\n};`;
}

function indented(fields: string[]): string {
  return fields.map((field) => `  ${field.replaceAll("\n", "\n  ")}`).join("\n");
}

/** Declares a schema that has an ID once and returns its name. */
function write(schema: Schema, named: Map<string, string>): string {
  const { $id } = schema;
  if ($id === undefined) return writeWhole(schema, named);
  if (!named.has($id)) named.set($id, writeWhole(schema, named));
  return $id;
}

function writeWhole(schema: Schema, named: Map<string, string>): string {
  const { type, anyOf, items, properties, patternProperties } = schema;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const literals = schema.enum ?? schema["x-extensible-enum"];
  if (literals) return literals.map((literal) => JSON.stringify(literal)).join(" | ");
  if (anyOf) return anyOf.map((choice) => write(choice, named)).join(" | ");
  if (type === "array" && items) return `(${write(items, named)})[]`;
  if (type === "object" && properties) return writeObject(properties, schema.required ?? [], named);
  if (type === "object" && patternProperties) {
    const [values] = Object.values(patternProperties);
    if (values) return `{ [key: string]: ${write(values, named)} }`;
  }
  if (type === "integer" || type === "number") return "number";
  if (type === "string" || type === "boolean" || type === "null") return type;
  if (Object.keys(schema).every((key) => key === "description")) return "unknown";
  throw new Error(`no TypeScript type for ${JSON.stringify(schema)}`);
}

function writeObject(
  properties: Record<string, Schema>,
  required: string[],
  named: Map<string, string>,
): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? "" : "?";
    return `${comment(schema.description)}${name}${mark}: ${write(schema, named)};`;
  });
  return `{\n${indented(fields)}\n}`;
}

function comment(text: string | undefined): string {
  return text === undefined ? "" : `/** ${text.replaceAll("*/", "*\\/").replaceAll(/\s*\n\s*/g, " ")} */\n`;
}
