import { EVENTS } from "@subtext/client/contract/examples";
import { expect, test } from "vitest";
import { blocksRunBy } from "../../../test/support/documented-blocks.ts";

const blocks = blocksRunBy(import.meta.filename);

/** The names of all fields, without what tenants fill themselves. */
function fieldsOf(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null || /[mM]etadata$/.test(path)) return [path];
  return Object.entries(value).flatMap(([name, inner]) => fieldsOf(inner, `${path}.${name}`));
}

test("the events in the documentation have the fields of real ones", () => {
  expect(blocks.length).toBeGreaterThan(0);
  for (const { page, line, text } of blocks) {
    const shown = JSON.parse(text) as { type: keyof typeof EVENTS };
    const where = `${page}:${line}`;
    expect([where, ...fieldsOf(shown).sort()]).toEqual([where, ...fieldsOf(EVENTS[shown.type]).sort()]);
  }
});
