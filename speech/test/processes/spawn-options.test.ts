import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { heapFlags } from "../../src/processes/spawn-options.ts";

test("the V8 that runs here takes the flags that it is given", () => {
  expect(
    execFileSync(process.execPath, [...heapFlags(), "-p", "process.versions.v8"], { encoding: "utf8" }),
  ).toBe(`${process.versions.v8}\n`);
});

test("a V8 with which nothing was measured is given no flags: one that it does not know would end it", () => {
  for (const version of ["11.3.244.8-node.35", "12.4.254.21-node.33", "14.1.146.11-node.14"]) {
    expect(heapFlags(version)).toEqual([]);
  }
  expect(heapFlags("13.6.233.17-node.53").length).toBeGreaterThan(0);
});
