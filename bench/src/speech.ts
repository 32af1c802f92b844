import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { heapFlags } from "@subtext/speech/processes/spawn-options";
import { cpuSeconds, memoryOverTime } from "./process-tree.ts";
import { secondsByFunction } from "./speech-profile.ts";
import type { SpeechRun } from "./speech-run.ts";
import { printTable } from "./table.ts";

/**
 * Measures how fast continuous synthetic speech is transcribed, by threads, processes and length; its memory over
 * time; and the share of time outside of the models' matrix operations. Compares it in the same run and on the same
 * recording with the whisper.cpp program, if available.
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
const RUN = join(import.meta.dirname, "speech-run.ts");
const MODEL_TIME = join(import.meta.dirname, "speech-model-time.ts");
const SAMPLE = join(import.meta.dirname, "../../demo/sample/sample.mp4");

if (spawnSync("ffmpeg", ["-version"]).status !== 0) {
  console.error("The bench makes its recordings with ffmpeg, which is not there: apt install ffmpeg");
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
    "From recording to words, models loaded (processes × threads; with several processes, each one recording)",
    ["recording, engine", "took", "real time", "a second of one core", "words"],
    speeds,
  );
  printTable(
    "Highest memory of the process tree in each quarter of the work",
    ["recording, engine", "1st", "2nd", "3rd", "4th"],
    memory,
  );
  printTable(
    "Share of that time in which each part was at work (they overlap)",
    ["recording, engine", "decode", "voice activity", "engine"],
    stages,
  );
  printTable(
    "Processor time: in calls of the models' runtime, in ffmpeg, in all else (to reach: the last two ≤ 10 %)",
    ["recording, engine", "models", "ffmpeg", "else", "not the models"],
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
 * Counted, not sampled: what each thread used from before a call of the runtime until after it; what the
 * system counted for the process, less that; and for its children. Loading is in none of them.
 */
function sharesOf(runs: readonly SpeechRun[]): string[] {
  const [own, decoder, model] = (["own", "decoder", "model"] as const).map((part) =>
    sum(runs.map(({ cpu }) => cpu[part])),
  ) as [number, number, number];
  const parts = [model, decoder, own - model];
  return [...parts.map((seconds) => `${seconds.toFixed(2)} s`), percent(1 - model / (own + decoder))];
}

/**
 * Which functions "all else" is: what Node, watching itself, saw in the longer recording more than in the
 * shorter one, so that starting and loading cancel out. Time of the wall, which is more where others compute.
 */
async function printFunctions(short: Recording, long: Recording): Promise<void> {
  const [before, after] = [await profile(short), await profile(long)];
  const functions = [...after]
    .map(([name, seconds]) => [name, seconds - (before.get(name) ?? 0)] as const)
    .toSorted(([, a], [, b]) => b - a);
  printTable(
    `What ${long.minutes} min took more than ${short.minutes} min outside the models and ffmpeg, sampled`,
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
  /** Of the process tree, several times a second. */
  residentBytes: number[];
}

async function measure(
  path: string,
  { threads, model, profiles }: { threads: number; model: string | null; profiles?: string },
): Promise<Measured> {
  const args = [
    "--disable-warning=ExperimentalWarning",
    ...heapFlags(),
    // Threads take it over from their process.
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
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  const residentBytes = memory.stop();
  if (code !== 0) throw new Error(`The run ended with exit code ${code}.`);
  return { run: JSON.parse(said) as SpeechRun, residentBytes };
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

/** Speech on end: the sample's sound, again and again. */
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

/** Peaks in MiB, summed over processes that ran side by side. */
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
