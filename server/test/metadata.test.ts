import fc from "fast-check";
import { expect, test } from "vitest";
import { checkMetadata } from "../src/lib/metadata.ts";

const refused = { code: "invalid_metadata" };

test("metadata of ordinary text is taken, also where it speaks of escapes", () => {
  checkMetadata({ a: "\\u0000", b: "\\ud800", c: "☀ 😀", nested: { list: ["x", 1, null] } }, "Metadata");
});

test("metadata with U+0000 or half a character is refused, wherever it stands", () => {
  const bad = fc.constantFrom("\0", "a\0b", "\ud800", "x\udfff");
  const around = fc.constantFrom<(text: string) => Record<string, unknown>>(
    (text) => ({ a: text }),
    (text) => ({ [text]: 1 }),
    (text) => ({ a: [{ b: text }] }),
  );
  fc.assert(
    fc.property(bad, around, (text, wrap) => {
      expect(() => checkMetadata(wrap(text), "Metadata")).toThrow(expect.objectContaining(refused));
    }),
  );
});

test("metadata over 4 KB is refused", () => {
  checkMetadata({ a: "x".repeat(4096 - 8) }, "Metadata");
  expect(() => checkMetadata({ a: "x".repeat(4096 - 7) }, "Metadata")).toThrow(
    expect.objectContaining(refused),
  );
});
