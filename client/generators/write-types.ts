import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";
import { openApi } from "../src/contract/openapi.ts";

export const TYPES_FILE = join(import.meta.dirname, "../test/generated/openapi.ts");
const HEADER = '// Generated from the OpenAPI document by "npm run generate:types".\n\n';

/** Generates the types of the public API from the OpenAPI document, with openapi-typescript. */
export async function renderTypes(): Promise<string> {
  const document = openApi({ version: "1.0.0", serverUrl: "https://subtext.example.com" });
  const nodes = await openapiTS(onlyTypes(document) as never, {
    alphabetize: true,
    transform(schema) {
      const values = (schema as { "x-extensible-enum"?: string[] })["x-extensible-enum"];
      if (values === undefined) return;
      const { createLiteralTypeNode, createStringLiteral, createUnionTypeNode } = ts.factory;
      return createUnionTypeNode(values.map((value) => createLiteralTypeNode(createStringLiteral(value))));
    },
  });
  return `${HEADER}${astToString(nodes)}`;
}

/** Removes texts, examples and error responses, which contribute no types but three quarters of the output. */
function onlyTypes(document: object): object {
  return JSON.parse(JSON.stringify(document), (name, value) => {
    const isText = name === "description" || name === "summary" || name === "format";
    if ((isText && typeof value === "string") || name === "example" || name === "examples") return undefined;
    if (name !== "responses") return value;
    return Object.fromEntries(Object.entries(value).filter(([status]) => status.startsWith("2")));
  });
}

if (import.meta.main) {
  mkdirSync(dirname(TYPES_FILE), { recursive: true });
  writeFileSync(TYPES_FILE, await renderTypes());
}
