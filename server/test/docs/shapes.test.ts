import { EVENTS } from "@subtext/client/contract/examples";
import { expect, test } from "vitest";
import { blocksRunBy } from "../../../test/support/documented-blocks.ts";

const blocks = blocksRunBy(import.meta.filename);

/** Returns the paths of all fields. Ignores the contents of metadata, which customers define. */
function fieldPaths(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null || /[mM]etadata$/.test(path)) return [path];
  return Object.entries(value).flatMap(([name, inner]) => fieldPaths(inner, `${path}.${name}`));
}

test("the events in the documentation have the fields of real ones", () => {
  expect(blocks.length).toBeGreaterThan(0);
  for (const { page, line, text } of blocks) {
    const shown = JSON.parse(text) as { type: keyof typeof EVENTS };
    const where = `${page}:${line}`;
    expect([where, ...fieldPaths(shown).sort()]).toEqual([where, ...fieldPaths(EVENTS[shown.type]).sort()]);
  }
});
