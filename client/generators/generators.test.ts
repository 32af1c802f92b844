import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { openApi } from "../src/contract/openapi.ts";
import { generateTypes } from "./languages.ts";
import { renderTypes, TYPES_FILE } from "./write-types.ts";

const run = promisify(execFile);
const document = openApi({ version: "1.0.0", serverUrl: "https://subtext.example.com" });

test("the committed types are up to date (npm run generate:types)", async () => {
  expect(await readFile(TYPES_FILE, "utf8")).toBe(await renderTypes());
});

/** The examples in the document, each with the name of its schema. */
const examples: { schema: string; example: unknown }[] = [];
JSON.stringify(document, (_name, value) => {
  const schema = value?.schema?.$ref?.split("/").at(-1);
  if (schema !== undefined && value.example !== undefined) examples.push({ schema, example: value.example });
  return value;
});

/** Normalizes timestamps, which generated code may format differently. */
function normalizeTimestamps(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_name, part) =>
    typeof part === "string" && /^\d{4}-\d\d-\d\dT/.test(part) ? new Date(part).toISOString() : part,
  );
}

/** Runs a program that parses each example with the generated type and prints it. */
async function roundTrip(files: Record<string, string>, command: string, args: string[]): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "subtext-generated-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await writeFile(join(folder, "examples.json"), JSON.stringify(examples));
  const { stdout } = await run(command, args, { cwd: folder });
  return JSON.parse(stdout);
}

describe("quicktype's types for the OpenAPI document preserve every field of every example", () => {
  const expected = examples.map(({ example }) => normalizeTimestamps(example));

  test("which include requests, responses and events", () => {
    const schemas = examples.map(({ schema }) => schema);
    expect(schemas).toEqual(
      expect.arrayContaining([
        "NewVideo",
        "Transcription",
        "WebhookEndpointPage",
        "TranscriptionFailedEvent",
      ]),
    );
  });

  test("in Python", async () => {
    const program = `
import json, re, subtext
def parse(schema, example):
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", schema).lower()
    return getattr(subtext, name + "_to_dict")(getattr(subtext, name + "_from_dict")(example))
print(json.dumps([parse(**each) for each in json.load(open("examples.json"))], default=str))
`;
    const files = { "subtext.py": await generateTypes(document, "python"), "main.py": program };
    expect(normalizeTimestamps(await roundTrip(files, "python3", ["main.py"]))).toEqual(expected);
  });

  test("in Go", async () => {
    const names = [...new Set(examples.map(({ schema }) => schema))];
    const program = `
package main
import ("encoding/json"; "fmt"; "os")
func main() {
  text, _ := os.ReadFile("examples.json")
  var examples []struct { Schema string; Example json.RawMessage }
  if err := json.Unmarshal(text, &examples); err != nil { panic(err) }
  printed := []json.RawMessage{}
  for _, each := range examples {
    var value interface{ Marshal() ([]byte, error) }
    var err error
    switch each.Schema {
${names.map((name) => `case "${name}": var parsed ${name}; parsed, err = Unmarshal${name}(each.Example); value = &parsed`).join("\n")}
    }
    if err != nil { panic(err) }
    again, err := value.Marshal()
    if err != nil { panic(err) }
    printed = append(printed, again)
  }
  out, _ := json.Marshal(printed)
  fmt.Println(string(out))
}
`;
    const files = {
      "subtext.go": await generateTypes(document, "go", { package: "main" }),
      "main.go": program,
    };
    expect(normalizeTimestamps(await roundTrip(files, "go", ["run", "main.go", "subtext.go"]))).toEqual(
      expected,
    );
  });
});
