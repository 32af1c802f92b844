import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { readConfig } from "../server/src/config/config.ts";
import { openService } from "../server/src/main.ts";
import { createLog } from "../server/src/telemetry/log.ts";
import type { Mutation } from "./mutations/mutation.ts";
import { mutations } from "./mutations.ts";

/**
 * Breaks one critical line at a time in a copy of the sources and runs the tests that must catch it. Fails if they pass,
 * if the line is not found, or if they fail without a mutation.
 */
const ROOT = join(import.meta.dirname, "..");
const COPIES = 2;
/** The slowest test file takes half a minute. */
const TIMEOUT_MS = 240_000;

const { values } = parseArgs({
  options: {
    /** Runs only mutations whose file or text contains one of these strings. */
    only: { type: "string", multiple: true, default: [""] },
    /** Runs one of several equal parts; 2/5 is the second of five. */
    part: { type: "string", default: "1/1" },
  },
});
const [part = 1, parts = 1] = values.part.split("/").map(Number);
const chosen = mutations
  .filter(({ file, original }) => values.only.some((text) => `${file} ${original}`.includes(text)))
  .filter((_mutation, index) => index % parts === part - 1);
// Without file names, vitest would run all tests.
if (chosen.length === 0) throw new Error("no mutation is selected");

const folder = await mkdtemp(join(tmpdir(), "subtext-mutation-"));
const problems: string[] = [];
try {
  const stale = chosen.filter(({ file, original }) => countIn(file, original) !== 1);
  for (const { file, original } of stale) problems.push(`not found exactly once in ${file}: ${original}`);
  const waiting = chosen.filter((mutation) => !stale.includes(mutation));
  const copies = Array.from({ length: COPIES }, (_, number) => copySources(join(folder, String(number))));
  const templateDataFolder = join(folder, "template-data-folder");
  const config = readConfig({ DATA_DIR: templateDataFolder });
  await (await openService({ config, log: createLog("silent") })).stop();
  // The tests copy this data folder, because creating one takes seconds.
  process.env.TEMPLATE_DATA_FOLDER = templateDataFolder;
  const tests = [...new Set(waiting.flatMap((mutation) => mutation.tests))];
  console.log(`${tests.length} test files without a mutation`);
  const before = await runTests(copies[0]!, tests);
  for (const message of before) problems.push(`fails without a mutation: ${message}`);
  if (before.length === 0) await Promise.all(copies.map((copy) => testEach(copy, waiting)));
} finally {
  await rm(folder, { recursive: true, force: true });
}
for (const problem of problems) console.error(`FAILED: ${problem}`);
console.log(`${chosen.length} mutations, ${problems.length} problems, ${secondsSince(0)}`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function testEach(copy: string, waiting: Mutation[]): Promise<void> {
  for (let mutation = waiting.shift(); mutation; mutation = waiting.shift()) {
    const { file, original, replacement, tests } = mutation;
    const path = join(copy, file);
    const source = readFileSync(path, "utf8");
    writeFileSync(
      path,
      source.replace(original, () => replacement),
    );
    const startedAt = performance.now();
    const failures = await runTests(copy, tests);
    writeFileSync(path, source);
    // A timeout does not count, because it may also have another cause.
    const isCaught = failures.some((message) => !message.includes("timed out"));
    console.log(
      `${isCaught ? "caught  " : "SURVIVED"} ${secondsSince(startedAt)} ${file}: ${original.trim()} → ${replacement.trim() || "nothing"}`,
    );
    if (!isCaught) problems.push(`survived in ${file}: ${original} → ${replacement || "nothing"}`);
  }
}

/** Returns the first line of each failure. */
async function runTests(copy: string, tests: readonly string[]): Promise<string[]> {
  const report = join(copy, "report.json");
  await rm(report, { force: true });
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const args = ["run", "--bail=1", "--reporter=json", `--outputFile=${report}`, ...tests];
  const child = spawn(process.execPath, [vitest, ...args], {
    cwd: copy,
    stdio: "ignore",
    timeout: TIMEOUT_MS,
  });
  await once(child, "exit");
  if (!existsSync(report)) return ["the run timed out or wrote no report"];
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as {
    testResults: {
      status: string;
      message: string;
      assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
    }[];
  };
  return testResults.flatMap(({ status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === "failed");
    if (failed.length === 0) return status === "failed" ? [message.split("\n")[0]!] : [];
    return failed.map(
      ({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]?.split("\n")[0]}`,
    );
  });
}

/** Copies tracked and new files, and links the installed packages. Workspace links point to the copy. */
function copySources(copy: string): string {
  const list = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  for (const file of list.split("\0").filter((name) => name !== "" && existsSync(join(ROOT, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file));
  }
  const built = "dashboard/dist";
  if (existsSync(join(ROOT, built))) cpSync(join(ROOT, built), join(copy, built), { recursive: true });
  const { workspaces } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    workspaces: string[];
  };
  for (const modules of ["node_modules", ...workspaces.map((name) => `${name}/node_modules`)]) {
    if (!existsSync(join(ROOT, modules))) continue;
    mkdirSync(join(copy, modules));
    for (const name of readdirSync(join(ROOT, modules))) {
      if (name !== "@subtext" && name !== ".cache")
        symlinkSync(join(ROOT, modules, name), join(copy, modules, name));
    }
  }
  cpSync(join(ROOT, "node_modules/@subtext"), join(copy, "node_modules/@subtext"), {
    recursive: true,
    verbatimSymlinks: true,
  });
  return copy;
}

/** @param startedAt 0 for the start of the process */
function secondsSince(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
}

function countIn(file: string, text: string): number {
  return existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), "utf8").split(text).length - 1 : 0;
}
