import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { readServiceFile } from "@subtext/server/lib/service-file";
import { freePort } from "../../server/test/support/free-port.ts";
import { cpuSeconds, processTree } from "./process-tree.ts";
import { MACHINE } from "./recordings.ts";
import { SpawnedService } from "./spawned-service.ts";
import { printTable } from "./table.ts";

/**
 * Measures the CPU time, memory, disk writes and SQL statements of the idle service with the embedded database,
 * compared with an idle Fastify process and an idle PGlite process. Requires Linux. System calls are counted only if
 * strace is installed. `--json` prints JSON.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    json: { type: "boolean", default: false },
  },
});
const SECONDS = Number(values.seconds);
/** Time for the first sweep and for the work that follows a start or a recording. */
const SETTLE_SECONDS = 15;
const TRACED_SECONDS = 30;
const SYSTEM_CALLS = ["fsync", "statx", "write", "pwrite64"];
const ROOT = join(import.meta.dirname, "../..");

interface Idle {
  name: string;
  processes: ProcessCost[];
  /** Calls per minute; null without strace. */
  systemCalls: Record<string, number> | null;
  /** Statements per minute, keyed by the beginning of their text; null for the baselines. */
  statements: Record<string, number> | null;
}

interface ProcessCost {
  command: string;
  /** 100 is one core. */
  cpuPercent: number;
  /** Proportional set size: each shared page is divided by the number of processes that share it. */
  memoryMebibytes: number;
  writtenBytes: number;
}

if (process.platform !== "linux") {
  console.error("This benchmark reads /proc, which only Linux has.");
  process.exit(1);
}
const folder = await mkdtemp(join(tmpdir(), "subtext-idle-"));
const results: Idle[] = [];
try {
  for (const baseline of ["fastify", "pglite"]) {
    const args = [join(import.meta.dirname, "idle-baseline.ts"), baseline, join(folder, baseline)];
    const child = spawn(process.execPath, args, { stdio: "ignore" });
    results.push(await measure(`a bare ${baseline} process`, child.pid!));
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill();
    await ended;
  }

  const statementsFile = join(folder, "statements.json");
  const service = new SpawnedService(
    join(folder, "data"),
    await freePort(),
    { STATEMENTS_FILE: statementsFile, LOG_LEVEL: "error" },
    { preload: [join(import.meta.dirname, "count-statements.ts")] },
  );
  const tenant = await service.createTenant(null);
  await service.start();
  results.push(await measure("the service", service.pid!, statementsFile));

  const recording = join(ROOT, "demo/sample/sample.mp4");
  const videoId = await service.upload(tenant, recording);
  const { status } = await service.untilEnded(tenant, videoId);
  if (status !== "COMPLETED") throw new Error(`the transcription is ${status}`);
  results.push(await measure("after a recording", service.pid!, statementsFile));

  const { url, token } = (await readServiceFile(service.dataFolder))!;
  const stream = new AbortController();
  await fetch(`${url}/internal/environments/${tenant.environmentId}/videos/changes`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stream.signal,
  });
  results.push(await measure("with an open page of videos", service.pid!, statementsFile));
  stream.abort();
  await service.end("SIGTERM");
} finally {
  await rm(folder, { recursive: true, force: true });
}

if (values.json) console.log(JSON.stringify({ machine: MACHINE, seconds: SECONDS, results }, null, 2));
else print();

async function measure(name: string, pid: number, statementsFile?: string): Promise<Idle> {
  await sleep(SETTLE_SECONDS * 1000);
  const tree = processTree(pid);
  await countStatements(pid, statementsFile);
  const before = tree.map((each) => ({ ...each, ...readUsage(each.pid) }));
  await sleep(SECONDS * 1000);
  const processes = before.map(({ pid, command, cpu, writtenBytes }) => {
    const after = readUsage(pid);
    return {
      command,
      cpuPercent: (100 * (after.cpu - cpu)) / SECONDS,
      memoryMebibytes: readMemoryKib(pid) / 1024,
      writtenBytes: after.writtenBytes - writtenBytes,
    };
  });
  const statements = await countStatements(pid, statementsFile);
  return { name, processes, systemCalls: countSystemCalls(pid), statements };
}

function readUsage(pid: number): { cpu: number; writtenBytes: number } {
  const io = readFileSync(`/proc/${pid}/io`, "utf8");
  return { cpu: cpuSeconds(pid).own, writtenBytes: Number(/^write_bytes: (\d+)/m.exec(io)?.[1]) };
}

function readMemoryKib(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]);
}

/** Returns the statements per minute since the previous call. */
async function countStatements(pid: number, file?: string): Promise<Record<string, number> | null> {
  if (file === undefined) return null;
  process.kill(pid, "SIGUSR2");
  while (!existsSync(file)) await sleep(100);
  // The service may not have finished writing the file.
  await sleep(100);
  const counts = JSON.parse(await readFile(file, "utf8")) as Record<string, number>;
  await rm(file);
  const sorted = Object.entries(counts).sort(([, one], [, other]) => other - one);
  return Object.fromEntries(sorted.map(([statement, times]) => [statement, (times * 60) / SECONDS]));
}

function countSystemCalls(pid: number): Record<string, number> | null {
  if (spawnSync("strace", ["--version"]).status !== 0) return null;
  const { stderr } = spawnSync(
    "timeout",
    ["-s", "INT", String(TRACED_SECONDS), "strace", "-f", "-c", "-p", String(pid)],
    { encoding: "utf8" },
  );
  // strace prints columns: % time, seconds, µs per call, calls, errors if any, name.
  const lines = stderr.split("\n").map((line) => line.trim().split(/\s+/));
  const callsOf = (name: string) => Number(lines.find((columns) => columns.at(-1) === name)?.[3] ?? 0);
  return Object.fromEntries(SYSTEM_CALLS.map((name) => [name, (callsOf(name) * 60) / TRACED_SECONDS]));
}

function print(): void {
  printTable(
    `At rest, for ${SECONDS} s`,
    ["", "CPU, % of a core", "memory, MiB", "written, KiB", ...SYSTEM_CALLS.map((name) => `${name}/min`)],
    results.map(({ name, processes, systemCalls }) => {
      const sum = (of: (cost: ProcessCost) => number) => processes.reduce((all, each) => all + of(each), 0);
      return [
        processes.length > 1 ? `${name} (${processes.length} processes)` : name,
        sum(({ cpuPercent }) => cpuPercent).toFixed(2),
        sum(({ memoryMebibytes }) => memoryMebibytes).toFixed(0),
        (sum(({ writtenBytes }) => writtenBytes) / 1024).toFixed(0),
        ...SYSTEM_CALLS.map((call) => systemCalls?.[call]?.toFixed(0) ?? "?"),
      ];
    }),
  );
  for (const { name, statements } of results) {
    if (!statements) continue;
    const rows = Object.entries(statements).map(([statement, perMinute]) => [
      statement,
      perMinute.toFixed(1),
    ]);
    printTable(`Statements: ${name}`, ["", "per minute"], rows);
  }
  console.log(`\n  ${MACHINE}`);
}
