import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mutations } from "../scripts/mutations.ts";

const root = join(import.meta.dirname, "..");

test("each mutation names a line that exists exactly once, and tests that exist", () => {
  const stale = mutations.filter(({ file, original, tests }) => {
    const path = join(root, file);
    const count = existsSync(path) ? readFileSync(path, "utf8").split(original).length - 1 : 0;
    return count !== 1 || tests.some((name) => !existsSync(join(root, name)));
  });
  expect(stale).toEqual([]);
});
