import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** An entry of `.ci/allowed-skips.json`. */
export interface AllowedSkip {
  /** A regular expression that matches `file > name` of tests, or the name of a part of `.ci/run`. */
  skip: string;
  reason: string;
  /** A shell command. If it succeeds, this machine can run the tests, so they must not be skipped. */
  unless?: string;
}

/** The fields of a vitest JSON report that this script reads. */
export interface Report {
  testResults: { name: string; assertionResults: { fullName: string; status: string }[] }[];
}

/** Returns the tests that were skipped in at least one report and ran in none, as `file > name`. */
export function testsThatNeverRan(reports: readonly Report[], root: string): string[] {
  const names = { ran: new Set<string>(), skipped: new Set<string>() };
  for (const { name: file, assertionResults } of reports.flatMap(({ testResults }) => testResults)) {
    for (const { fullName, status } of assertionResults) {
      // Some names end with the reason for the skip.
      const name = `${relative(root, file)} > ${fullName.replace(/ ?\(skipped[^)]*\)/g, "")}`;
      (status === "passed" || status === "failed" ? names.ran : names.skipped).add(name);
    }
  }
  return [...names.skipped.difference(names.ran)];
}

/** Returns the entry that allows the skip on this machine. */
export function findAllowedSkip(
  name: string,
  allowed: readonly AllowedSkip[],
  succeeds: (command: string) => boolean,
): AllowedSkip | undefined {
  return allowed.find(
    ({ skip, unless }) =>
      new RegExp(`^(?:${skip})$`).test(name) && !(unless !== undefined && succeeds(unless)),
  );
}

/**
 * `node scripts/check-skips.ts REPORT…` checks the tests that ran in none of the reports. `node scripts/check-skips.ts
 * --part NAME` checks a part of CI. Prints each skip and exits with 1 if one is not allowed.
 */
if (import.meta.main) {
  const [first = "", ...rest] = process.argv.slice(2);
  const allowed = JSON.parse(readFileSync(join(ROOT, ".ci/allowed-skips.json"), "utf8")) as AllowedSkip[];
  const succeeds = (command: string) => spawnSync("bash", ["-c", command], { stdio: "ignore" }).status === 0;
  const reports = () => [first, ...rest].map((path) => JSON.parse(readFileSync(path, "utf8")) as Report);
  const names = first === "--part" ? rest : testsThatNeverRan(reports(), ROOT);
  for (const name of names) {
    const found = findAllowedSkip(name, allowed, succeeds);
    console.log(found ? `skipped: ${name}: ${found.reason}` : `must not be skipped: ${name}`);
    if (!found) process.exitCode = 1;
  }
}
