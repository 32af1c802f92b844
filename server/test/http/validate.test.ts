import { NewVideo } from "@subtext/client/contract/video";
import { NewWebhookEndpoint } from "@subtext/client/contract/webhook-endpoint";
import type { TSchema } from "typebox";
import { expect, test } from "vitest";
import { validateStrictly } from "../../src/http/validate.ts";

function detailOf(schema: TSchema, value: unknown, httpPart = "body"): string {
  const result = validateStrictly({ schema, httpPart, method: "POST", url: "/" })(value);
  return (result as { error?: Error }).error?.message ?? "";
}

test.each<[string, TSchema, unknown, string]>([
  [
    "lists the allowed values of a field",
    NewWebhookEndpoint,
    { url: "https://example.com", eventTypes: ["all"] },
    "body/eventTypes/0 must be one of transcriptions.transcription.completed, transcriptions.transcription.failed, transcriptions.transcription.skipped, transcriptions.transcription.updated.",
  ],
  [
    "names an unknown field",
    NewVideo,
    { sizeBytes: 1, language: "en" },
    "body/language is unknown, or is not allowed here.",
  ],
  [
    "names a metadata key that cannot be stored",
    NewVideo,
    { sizeBytes: 1, metadata: { título: "a" } },
    "body/metadata/título is unknown, or is not allowed here.",
  ],
  ["names a missing field", NewVideo, {}, "body must have required properties sizeBytes."],
  ["names a value of the wrong type", NewVideo, { sizeBytes: "1" }, "body/sizeBytes must be integer."],
])("an error %s", (_what, schema, value, detail) => {
  expect(detailOf(schema, value)).toBe(detail);
});

test("an error in a query names the query", () => {
  expect(detailOf(NewVideo, {}, "querystring")).toMatch(/^query must/);
});
