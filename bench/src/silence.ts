import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openDecoder } from "@subtext/speech/media/open-decoder";
import { openVoiceActivityWorker } from "@subtext/speech/processes/model-worker";
import { closeEngines, openEngines } from "@subtext/speech/processes/open-engines";
import { transcribe } from "@subtext/speech/transcribe";
import { cpuSeconds } from "./process-tree.ts";
import { ffmpeg, MACHINE, requireFfmpeg } from "./recordings.ts";
import { median } from "./statistics.ts";
import { printTable } from "./table.ts";

/**
 * Measures the cost of recordings without speech, relative to decoding them with ffmpeg in the same run. Excludes
 * loading models. `--json` prints JSON.
 */
const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, runs: { type: "string", default: "3" } },
});
const HOUR = 3600;
/** Uniform noise with this amplitude has a level of −60 dBFS. */
const NOISE_AMPLITUDE = Math.sqrt(3) / 1000;

interface Measurement {
  recording: string;
  subtext: Cost;
  ffmpeg: Cost;
  /** Of Subtext to ffmpeg. */
  ratio: { elapsed: number; cpu: number };
}

interface Cost {
  seconds: number;
  /** Includes all threads and the decoder. */
  cpuSeconds: number;
}

requireFfmpeg();
await using opened = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), "subtext-bench-silence-"));
opened.defer(() => rm(folder, { recursive: true, force: true }));
const decoder = await openDecoder();
const voiceActivity = await openVoiceActivityWorker();
opened.defer(() => voiceActivity.close());
const bundledOnly = { bundled: true, multilingual: null, bundledTakesEnglish: false, remedy: "" };
const engines = await openEngines(bundledOnly, { threads: 1 });
opened.defer(() => closeEngines(engines));

const measurements: Measurement[] = [];
for (const { recording, path } of makeRecordings()) {
  const subtextCosts: Cost[] = [];
  const ffmpegCosts: Cost[] = [];
  for (let run = 0; run < Number(values.runs); run++) {
    subtextCosts.push(await measure(() => transcribeOnce(path)));
    ffmpegCosts.push(await measure(() => decodeWithFfmpeg(path)));
  }
  const [subtext, baseline] = [medianOf(subtextCosts), medianOf(ffmpegCosts)];
  const ratio = {
    elapsed: subtext.seconds / baseline.seconds,
    cpu: subtext.cpuSeconds / baseline.cpuSeconds,
  };
  measurements.push({ recording, subtext, ffmpeg: baseline, ratio });
}
if (values.json)
  console.log(JSON.stringify({ machine: MACHINE, decoder: decoder.name, measurements }, null, 2));
else {
  console.log(MACHINE);
  printTable(
    `Recordings without speech, compared with decoding by ffmpeg (medians of ${values.runs} runs)`,
    [
      "recording",
      "elapsed time",
      "ffmpeg elapsed time",
      "elapsed time ratio",
      "processor time",
      "ffmpeg processor time",
      "processor time ratio",
    ],
    measurements.map(({ recording, subtext, ffmpeg: baseline, ratio }) => [
      recording,
      `${subtext.seconds.toFixed(2)} s`,
      `${baseline.seconds.toFixed(2)} s`,
      ratio.elapsed.toFixed(1),
      `${subtext.cpuSeconds.toFixed(2)} s`,
      `${baseline.cpuSeconds.toFixed(2)} s`,
      ratio.cpu.toFixed(1),
    ]),
  );
}

async function measure(work: () => Promise<void>): Promise<Cost> {
  const total = () => {
    const { own, children } = cpuSeconds(process.pid);
    return own + children;
  };
  const cpuBefore = total();
  const startedAt = performance.now();
  await work();
  return { seconds: (performance.now() - startedAt) / 1000, cpuSeconds: total() - cpuBefore };
}

async function transcribeOnce(path: string): Promise<void> {
  const { signal } = new AbortController();
  const options = { decoder, engines, voiceActivity, maxDurationSeconds: 12 * HOUR, signal };
  const result = await transcribe(path, options);
  if (result.outcome === "transcribed" && result.words.length > 0)
    throw new Error(`Words were recognized in ${path}, which contains no speech.`);
}

async function decodeWithFfmpeg(path: string): Promise<void> {
  ffmpeg("-i", path, "-vn", "-ar", "16000", "-c:a", "pcm_f32le", "-f", "null", "-");
}

function makeRecordings(): { recording: string; path: string }[] {
  const packets = join(folder, "packets.m4a");
  ffmpeg("-f", "lavfi", "-i", "anoisesrc=r=16000:d=60:a=0.5:seed=1", "-b:a", "8k", packets);
  const padded = join(folder, "padded.mp4");
  ffmpeg("-itsscale", "650", "-i", packets, "-c", "copy", padded);
  const silent = join(folder, "silent.flac");
  ffmpeg("-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", `${HOUR}`, silent);
  const noisy = join(folder, "noisy.flac");
  const noise = `anoisesrc=r=16000:d=${HOUR}:a=${NOISE_AMPLITUDE}:seed=1`;
  ffmpeg("-f", "lavfi", "-i", noise, "-c:a", "flac", "-sample_fmt", "s16", noisy);
  return [
    { recording: "one minute of noise whose timestamps span 39,000 s", path: padded },
    { recording: "an hour of digital silence", path: silent },
    { recording: "an hour of steady noise at −60 dBFS", path: noisy },
  ];
}

function medianOf(costs: readonly Cost[]): Cost {
  return {
    seconds: median(costs.map(({ seconds }) => seconds)),
    cpuSeconds: median(costs.map((cost) => cost.cpuSeconds)),
  };
}
