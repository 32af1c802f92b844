import fc from "fast-check";
import { expect, test } from "vitest";
import { checkMetadata } from "../../src/lib/metadata.ts";

const rejected = { code: "invalid_metadata" };

test("metadata of ordinary text is accepted, including text that looks like an escape", () => {
  checkMetadata({ a: "\\u0000", b: "\\ud800", c: "☀ 😀", nested: { list: ["x", 1, null] } }, "Metadata");
});

test("metadata with U+0000 or a lone surrogate is rejected, in keys and in values", () => {
  const bad = fc.constantFrom("\0", "a\0b", "\ud800", "x\udfff");
  const around = fc.constantFrom<(text: string) => Record<string, unknown>>(
    (text) => ({ a: text }),
    (text) => ({ [text]: 1 }),
    (text) => ({ a: [{ b: text }] }),
  );
  fc.assert(
    fc.property(bad, around, (text, wrap) => {
      expect(() => checkMetadata(wrap(text), "Metadata")).toThrow(expect.objectContaining(rejected));
    }),
  );
});

test("metadata over 4 KB is rejected", () => {
  checkMetadata({ a: "x".repeat(4096 - 8) }, "Metadata");
  expect(() => checkMetadata({ a: "x".repeat(4096 - 7) }, "Metadata")).toThrow(
    expect.objectContaining(rejected),
  );
});
