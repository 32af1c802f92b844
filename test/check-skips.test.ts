import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type AllowedSkip, findAllowedSkip, testsThatNeverRan } from "../scripts/check-skips.ts";

const ROOT = join(import.meta.dirname, "..");

function report(tests: Record<string, string>) {
  const assertionResults = Object.entries(tests).map(([fullName, status]) => ({ fullName, status }));
  return { testResults: [{ name: "/project/server/test/a.test.ts", assertionResults }] };
}

test("a test counts as skipped only if it ran in no part of CI", () => {
  const bare = report({ always: "passed", "with a bucket": "skipped", never: "skipped", "to do": "todo" });
  const shared = report({ "with a bucket": "failed", never: "pending" });
  expect(testsThatNeverRan([bare, shared], "/project")).toEqual([
    "server/test/a.test.ts > never",
    "server/test/a.test.ts > to do",
  ]);
});

test("a skip reason in the name of a test does not make it a different test", () => {
  const bare = report({
    "the chart (skipped: no go) renders": "skipped",
    "rules (skipped without x)": "skipped",
  });
  const full = report({ "the chart renders": "passed" });
  expect(testsThatNeverRan([bare, full], "/project")).toEqual(["server/test/a.test.ts > rules"]);
});

test("a skip is allowed only by its full name, and only on a machine that lacks what the test needs", () => {
  const allowed: AllowedSkip[] = [
    { skip: "a > .*IPv6.*", reason: "no IPv6", unless: "has-ipv6" },
    { skip: "audit", reason: "no answer" },
  ];
  const isAllowed = (name: string, has: string[] = []) =>
    findAllowedSkip(name, allowed, (command) => has.includes(command)) !== undefined;
  expect(isAllowed("a > is received over IPv6")).toBe(true);
  expect(isAllowed("a > is received over IPv6", ["has-ipv6"])).toBe(false);
  expect(isAllowed("audit")).toBe(true);
  expect(isAllowed("audits")).toBe(false);
  expect(isAllowed("b > is received")).toBe(false);
});

describe("scripts/check-skips.ts", () => {
  const check = (...args: string[]) => {
    const { status, stdout } = spawnSync(process.execPath, [join(ROOT, "scripts/check-skips.ts"), ...args]);
    return { status, out: stdout.toString() };
  };

  test("fails for a part or a test that is not on the list", async () => {
    const folder = await mkdtemp(join(tmpdir(), "check-skips-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "report.json");
    await writeFile(path, JSON.stringify(report({ "is important": "skipped" })));
    expect(check(path)).toMatchObject({ status: 1, out: expect.stringContaining("is important") });
    expect(check("--part", "the fault campaign").status).toBe(1);
    expect(check("--part", "known vulnerabilities")).toMatchObject({
      status: 0,
      out: expect.stringContaining("scripts/check-audit"),
    });
  });

  test("has a list of skips with reasons and valid regular expressions", () => {
    const list = JSON.parse(readFileSync(join(ROOT, ".ci/allowed-skips.json"), "utf8")) as AllowedSkip[];
    for (const { skip, reason } of list) {
      expect(() => new RegExp(skip)).not.toThrow();
      expect(reason.length).toBeGreaterThan(20);
    }
  });
});
