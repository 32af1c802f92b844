import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { EngineSelection } from "@subtext/speech/engines/registry";
import { environmentFor, heapFlags } from "@subtext/speech/processes/spawn-options";
import { cpuSeconds, memoryOverTime } from "./process-tree.ts";
import { ffmpeg, MACHINE, makeRecording, requireFfmpeg, run } from "./recordings.ts";
import type { SpeechRun } from "./speech/run.ts";
import { printTable } from "./table.ts";

/**
 * Measures speed, memory over time and the share of CPU time outside the models while continuous synthetic speech is
 * transcribed, for several recording lengths and numbers of threads and processes. With `--whisper-cli` and
 * `--whisper-model`, whisper.cpp transcribes the same recordings for comparison.
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

requireFfmpeg();
console.log(MACHINE);

const folder = await mkdtemp(join(tmpdir(), "subtext-bench-speech-"));
try {
  const speeds: string[][] = [];
  const memory: string[][] = [];
  const stages: string[][] = [];
  const shares: string[][] = [];
  for (const minutes of lengths) {
    const path = join(folder, `${minutes}.mp4`);
    makeRecording(path, minutes * 60);
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
        const withStartUp = Math.max(...measured.map(({ totalSeconds }) => totalSeconds));
        const duration = sum(runs.map((run) => run.duration));
        const cpu = sum(runs.map((run) => run.cpu.own + run.cpu.decoder));
        if (model === null) shares.push([name, ...cpuShares(runs)]);
        speeds.push([
          name,
          `${slowest.toFixed(1)} s`,
          `${withStartUp.toFixed(1)} s`,
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
      speeds.push([name, "", took, speed, `${((minutes * 60) / peer.cpuSeconds).toFixed(0)} ×`, ""]);
    }
  }
  printTable(
    "From recording to words (processes × threads; each process transcribes one recording)",
    ["recording, engine", "with loaded models", "with start-up", "real time", "per core", "words"],
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
    "CPU time of model calls, of ffmpeg and of everything else (target: the last two ≤ 10%)",
    ["recording, engine", "models", "ffmpeg", "other", "outside the models"],
    shares,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Returns the cells of a table row. Excludes loading models. */
function cpuShares(runs: readonly SpeechRun[]): string[] {
  const [own, decoder, model] = (["own", "decoder", "model"] as const).map((part) =>
    sum(runs.map(({ cpu }) => cpu[part])),
  ) as [number, number, number];
  const parts = [model, decoder, own - model];
  return [...parts.map((seconds) => `${seconds.toFixed(2)} s`), percent(1 - model / (own + decoder))];
}

interface Measured {
  run: SpeechRun;
  /** Including the start of the process and loading of models. */
  totalSeconds: number;
  /** Samples of the process tree over time. */
  residentBytes: number[];
}

function selectionOf(model: string | null): EngineSelection {
  const multilingual = model === null ? null : { kind: "whisper" as const, folder: model };
  return { bundled: model === null, multilingual, bundledTakesEnglish: false, remedy: "" };
}

async function measure(
  path: string,
  { threads, model }: { threads: number; model: string | null },
): Promise<Measured> {
  const args = [
    "--disable-warning=ExperimentalWarning",
    ...heapFlags(),
    // Worker threads inherit `--import`.
    `--import=${pathToFileURL(MODEL_TIME)}`,
    ...[RUN, path, "--threads", String(threads)],
    ...(model === null ? [] : ["--model", model]),
  ];
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    env: environmentFor(
      { engines: selectionOf(model), threads, batchShare: 1, ffmpegPath: null },
      process.env,
    ),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const memory = memoryOverTime(() => child.pid);
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  const totalSeconds = (performance.now() - startedAt) / 1000;
  const residentBytes = memory.stop();
  if (code !== 0) throw new Error(`The run ended with exit code ${code}.`);
  return { run: JSON.parse(stdout) as SpeechRun, totalSeconds, residentBytes };
}

function timeWhisperCli(path: string): { seconds: number; cpuSeconds: number } | null {
  const [program, model] = [values["whisper-cli"], values["whisper-model"]];
  if (program === undefined || model === undefined) return null;
  const wav = join(folder, "peer.wav");
  ffmpeg("-i", path, "-ac", "1", "-ar", "16000", wav);
  const cpuBefore = cpuSeconds(process.pid).children;
  const startedAt = performance.now();
  run(program, ["-m", model, "-f", wav, "-t", String(cores), "-np", "-l", "auto"]);
  const seconds = (performance.now() - startedAt) / 1000;
  return { seconds, cpuSeconds: cpuSeconds(process.pid).children - cpuBefore };
}

/** Returns the peak of each quarter of the run, summed over concurrent processes. */
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
  return `${(100 * share).toFixed(0)}%`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
