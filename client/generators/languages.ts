import { InputData, JSONSchemaInput, JSONSchemaStore, type LanguageName, quicktype } from "quicktype-core";

/** Resolves no references, because all schemas are in the document. */
class NoOtherSchemas extends JSONSchemaStore {
  override async fetch(): Promise<undefined> {
    return undefined;
  }
}

/** Generates types in another language for every schema of the OpenAPI document, with quicktype. */
export async function generateTypes(
  document: object,
  language: LanguageName,
  rendererOptions: Record<string, string> = {},
): Promise<string> {
  const schemas = new JSONSchemaInput(new NoOtherSchemas());
  await schemas.addSource({
    name: "openapi",
    uris: ["#/components/schemas/"],
    schema: JSON.stringify(document),
  });
  const inputData = new InputData();
  inputData.addInput(schemas);
  const { lines } = await quicktype({ inputData, lang: language, rendererOptions });
  return lines.join("\n");
}
