import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { heapFlags } from "@subtext/speech/processes/spawn-options";
import { cpuSeconds, memoryOverTime } from "./process-tree.ts";
import { secondsByFunction } from "./speech/profile.ts";
import type { SpeechRun } from "./speech/run.ts";
import { printTable } from "./table.ts";

/**
 * Measures how fast continuous synthetic speech is transcribed, by number of threads and processes and by length; the
 * memory over time; and the share of CPU time outside the model runtime. Compares the speed with whisper.cpp, if
 * available, in the same run and on the same recording.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1,10" },
    full: { type: "boolean", default: false },
    threads: { type: "string" },
    processes: { type: "string" },
    model: { type: "string" },
    "whisper-cli": { type: "string" },
    "whisper-model": { type: "string" },
  },
});
const cores = availableParallelism();
const lengths = values.full ? [1, 60, 360] : values.minutes.split(",").map(Number);
const threadCounts = values.threads?.split(",").map(Number) ?? [...new Set([1, cores])];
const processCounts = values.processes?.split(",").map(Number) ?? [cores];
const ENGINES = values.model === undefined ? [null] : [null, values.model];
const RUN = join(import.meta.dirname, "speech/run.ts");
const MODEL_TIME = join(import.meta.dirname, "speech/model-time.ts");
const SAMPLE = join(import.meta.dirname, "../../demo/sample/sample.mp4");

if (spawnSync("ffmpeg", ["-version"]).status !== 0) {
  console.error(
    "The benchmark creates its recordings with ffmpeg, which is not installed: apt install ffmpeg",
  );
  process.exit(1);
}
console.log(`${cores} cores, ${cpus()[0]?.model ?? "unknown processor"}, Node ${process.version}`);

const folder = await mkdtemp(join(tmpdir(), "subtext-bench-speech-"));
try {
  const recordings = lengths.map((minutes) => ({ minutes, path: makeRecording(minutes) }));
  const speeds: string[][] = [];
  const memory: string[][] = [];
  const stages: string[][] = [];
  const shares: string[][] = [];
  for (const { minutes, path } of recordings) {
    for (const model of ENGINES) {
      const layouts = [
        ...threadCounts.map((threads) => ({ threads, processes: 1 })),
        ...processCounts.filter((count) => count > 1).map((processes) => ({ threads: 1, processes })),
      ];
      for (const { threads, processes } of layouts) {
        const measured = await Promise.all(
          Array.from({ length: processes }, () => measure(path, { threads, model })),
        );
        const runs = measured.map(({ run }) => run);
        const name = `${minutes} min, ${model === null ? "bundled" : "whisper"}, ${processes} × ${threads}`;
        const slowest = Math.max(...runs.map(({ seconds }) => seconds));
        const duration = sum(runs.map((run) => run.duration));
        const cpu = sum(runs.map((run) => run.cpu.own + run.cpu.decoder));
        if (model === null) shares.push([name, ...sharesOf(runs)]);
        speeds.push([
          name,
          `${slowest.toFixed(1)} s`,
          `${(duration / slowest).toFixed(0)} ×`,
          `${(duration / cpu).toFixed(0)} ×`,
          String(runs[0]?.words),
        ]);
        memory.push([name, ...quarters(measured.map((one) => one.residentBytes))]);
        const { total, decode, voiceActivity, engine } = runs[0]!.stages;
        stages.push([name, ...[decode, voiceActivity, engine].map((part) => percent(part / total))]);
      }
    }
    const peer = timeWhisperCli(path);
    if (peer !== null) {
      const [name, took] = [`${minutes} min, whisper-cli, 1 × ${cores}`, `${peer.seconds.toFixed(1)} s`];
      const speed = `${((minutes * 60) / peer.seconds).toFixed(0)} ×`;
      speeds.push([name, took, speed, `${((minutes * 60) / peer.cpuSeconds).toFixed(0)} ×`, ""]);
    }
  }
  printTable(
    "From recording to words, with loaded models (processes × threads; each process transcribes one recording)",
    ["recording, engine", "took", "real time", "per core", "words"],
    speeds,
  );
  printTable(
    "Peak memory of the process tree in each quarter of the run",
    ["recording, engine", "1st", "2nd", "3rd", "4th"],
    memory,
  );
  printTable(
    "Share of that time in which each stage was active (stages overlap)",
    ["recording, engine", "decode", "voice activity", "engine"],
    stages,
  );
  printTable(
    "CPU time: in calls of the model runtime, in ffmpeg, in everything else (target: the last two ≤ 10%)",
    ["recording, engine", "models", "ffmpeg", "else", "outside the models"],
    shares,
  );
  const [shortest, longest] = [recordings[0]!, recordings.at(-1)!];
  if (longest.minutes > shortest.minutes) await printFunctions(shortest, longest);
} finally {
  await rm(folder, { recursive: true, force: true });
}

interface Recording {
  minutes: number;
  path: string;
}

/**
 * Returns CPU time that is counted, not sampled: of the calls of the model runtime, of the rest of the process, and of
 * its children. Loading models is excluded.
 */
function sharesOf(runs: readonly SpeechRun[]): string[] {
  const [own, decoder, model] = (["own", "decoder", "model"] as const).map((part) =>
    sum(runs.map(({ cpu }) => cpu[part])),
  ) as [number, number, number];
  const parts = [model, decoder, own - model];
  return [...parts.map((seconds) => `${seconds.toFixed(2)} s`), percent(1 - model / (own + decoder))];
}

/**
 * Prints the functions that make up "everything else". Node's sampling profiler measures a short and a long recording;
 * the difference cancels out startup and loading. The times are wall-clock time, which grows with other load on the
 * machine.
 */
async function printFunctions(short: Recording, long: Recording): Promise<void> {
  const [before, after] = [await profile(short), await profile(long)];
  const functions = [...after]
    .map(([name, seconds]) => [name, seconds - (before.get(name) ?? 0)] as const)
    .toSorted(([, a], [, b]) => b - a);
  printTable(
    `Sampled time outside the models and ffmpeg, ${long.minutes} min minus ${short.minutes} min`,
    ["function", "time"],
    functions.slice(0, 10).map(([name, seconds]) => [name, `${seconds.toFixed(2)} s`]),
  );
}

async function profile({ path, minutes }: Recording): Promise<ReadonlyMap<string, number>> {
  const profiles = join(folder, `profiles-${minutes}`);
  await measure(path, { threads: cores, model: null, profiles });
  return await secondsByFunction(profiles);
}

interface Measured {
  run: SpeechRun;
  /** Memory of the process tree, several times per second. */
  residentBytes: number[];
}

async function measure(
  path: string,
  { threads, model, profiles }: { threads: number; model: string | null; profiles?: string },
): Promise<Measured> {
  const args = [
    "--disable-warning=ExperimentalWarning",
    ...heapFlags(),
    // Threads inherit it from their process.
    `--import=${pathToFileURL(MODEL_TIME)}`,
    ...(profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`]),
    ...[RUN, path, "--threads", String(threads)],
    ...(model === null ? [] : ["--model", model]),
  ];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, MALLOC_ARENA_MAX: "2" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const memory = memoryOverTime(child.pid!);
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  const residentBytes = memory.stop();
  if (code !== 0) throw new Error(`The run ended with exit code ${code}.`);
  return { run: JSON.parse(stdout) as SpeechRun, residentBytes };
}

function timeWhisperCli(path: string): { seconds: number; cpuSeconds: number } | null {
  const [program, model] = [values["whisper-cli"], values["whisper-model"]];
  if (program === undefined || model === undefined) return null;
  const wav = join(folder, "peer.wav");
  run("ffmpeg", ["-nostdin", "-v", "error", "-y", "-i", path, "-ac", "1", "-ar", "16000", wav]);
  const cpuBefore = cpuSeconds(process.pid).children;
  const startedAt = performance.now();
  run(program, ["-m", model, "-f", wav, "-t", String(cores), "-np", "-l", "auto"]);
  const seconds = (performance.now() - startedAt) / 1000;
  return { seconds, cpuSeconds: cpuSeconds(process.pid).children - cpuBefore };
}

/** Creates a recording of continuous speech by repeating the sample's audio. */
function makeRecording(minutes: number): string {
  const path = join(folder, `${minutes}.mp4`);
  run("ffmpeg", [
    ...["-nostdin", "-v", "error", "-y", "-stream_loop", "-1", "-i", SAMPLE, "-t", String(minutes * 60)],
    ...["-vn", "-c:a", "aac", "-b:a", "48k", path],
  ]);
  return path;
}

function run(program: string, args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} failed: ${error ?? stderr}`);
}

/** Returns the peaks in MiB, summed over concurrent processes. */
function quarters(curves: readonly number[][]): string[] {
  return [0, 1, 2, 3].map((quarter) => {
    const peaks = curves.map((curve) => {
      const part = curve.slice((curve.length * quarter) / 4, Math.ceil((curve.length * (quarter + 1)) / 4));
      return Math.max(0, ...part);
    });
    return `${(sum(peaks) / 1024 ** 2).toFixed(0)} MiB`;
  });
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
