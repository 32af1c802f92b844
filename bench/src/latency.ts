import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../../server/test/support/free-port.ts";
import { ffmpeg, MACHINE, requireFfmpeg, SAMPLE } from "./recordings.ts";
import { SpawnedService } from "./spawned-service.ts";
import { quantile } from "./statistics.ts";
import { printTable } from "./table.ts";

// Measures how long the service takes to start, and how long a short recording takes to transcribe after an upload and
// on the command line.

const { values } = parseArgs({ options: { runs: { type: "string", default: "5" } } });
const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) throw new Error("--runs must be an integer of at least 1");
const COMMAND = join(import.meta.dirname, "../../speech/bin/subtext-speech.js");
/** Delay between two reads of a transcription. */
const POLL_MS = 20;

requireFfmpeg();
console.log(MACHINE);
const folder = await mkdtemp(join(tmpdir(), "subtext-bench-latency-"));
const rows: string[][] = [];
const service = new SpawnedService(join(folder, "data"), await freePort());
try {
  const clip = (seconds: number) => {
    const path = join(folder, `${seconds}.mp4`);
    ffmpeg("-i", SAMPLE, "-t", String(seconds), "-c", "copy", path);
    return path;
  };
  const [short, medium] = [clip(2), clip(10)];
  report(
    "command line, 2 s clip",
    repeat(() => timeCommand(short)),
  );

  const timeStart = async () => {
    const startedAt = performance.now();
    await service.start();
    return performance.now() - startedAt;
  };
  report("first start of the service", [await timeStart()]);
  await service.end("SIGTERM");
  const tenant = await service.createTenant(null);
  const timeUpload = async (path: string) => {
    const videoId = await service.upload(tenant, path);
    const uploadedAt = performance.now();
    const { status } = await service.untilEnded(tenant, videoId, POLL_MS);
    if (status !== "COMPLETED") throw new Error(`the transcription of ${path} is ${status}`);
    return performance.now() - uploadedAt;
  };
  const starts: number[] = [];
  const cold: number[] = [];
  for (let turn = 0; turn < runs; turn++) {
    starts.push(await timeStart());
    cold.push(await timeUpload(SAMPLE));
    if (turn < runs - 1) await service.end("SIGTERM");
  }
  report("later start", starts);
  report("43 s recording, first upload after a start", cold);
  const warm = { sample: [] as number[], medium: [] as number[] };
  for (let turn = 0; turn < runs; turn++) {
    warm.sample.push(await timeUpload(SAMPLE));
    warm.medium.push(await timeUpload(medium));
  }
  report("43 s recording, engine running", warm.sample);
  report("10 s recording, engine running", warm.medium);
} finally {
  await service.end("SIGTERM");
  await rm(folder, { recursive: true, force: true });
}
printTable(
  "Service: from start to /readyz. Command line: from start to exit. Upload: from the last byte to COMPLETED.",
  ["", "median", "fastest", "slowest"],
  rows,
);

function repeat(measure: () => number): number[] {
  return Array.from({ length: runs }, measure);
}

function report(name: string, milliseconds: readonly number[]): void {
  const shown = [0.5, 0, 1].map((share) => quantile(milliseconds, share));
  rows.push([name, ...shown.map((each) => `${(each / 1000).toFixed(2)} s`)]);
}

function timeCommand(path: string): number {
  const startedAt = performance.now();
  execFileSync(process.execPath, [COMMAND, "--quiet", path]);
  return performance.now() - startedAt;
}
