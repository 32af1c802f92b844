import { mkdtemp, readdir, rm, stat, statfs } from "node:fs/promises";
import { availableParallelism, freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MAX_BATCH_BYTES, rowBytes } from "@subtext/speech/engines/whisper/whisper";
import type { Precision } from "@subtext/speech/models/precision";
import { measureEncoderSpeedInWorker } from "@subtext/speech/processes/model-worker";
import { DIMENSIONS, type Dimensions, ENCODER_FRAMES, MAX_TOKENS } from "./models/dimensions.ts";
import { type MeasuredModel, saveModelFigures } from "./models/figures.ts";
import { measureModel } from "./models/measure.ts";
import { ALIGNMENT_HEADS, writeModelFolder } from "./models/model-folder.ts";
import { ffmpeg, MACHINE, requireFfmpeg } from "./recordings.ts";
import { printTable } from "./table.ts";

/**
 * Measures Whisper models with the dimensions of the published ones and random weights: speed, time until a speech
 * process is ready, and its peak memory. A decoder with random weights would never end a text or end it at once, so it
 * is forced to output the number of tokens that speech needs. Memory use does not depend on other load, so
 * `--measure memory` may run on a busy machine. With `--save`, the figures are stored in docs/figures/models.json.
 */
const { values } = parseArgs({
  options: {
    models: { type: "string", default: Object.keys(DIMENSIONS).join() },
    encoders: { type: "string", default: "int8,fp16,fp32" },
    decoders: { type: "string", default: "int8" },
    measure: { type: "string", default: "time,memory" },
    batches: { type: "string", default: "1,4" },
    threads: { type: "string", default: String(availableParallelism()) },
    save: { type: "boolean", default: false },
  },
});

/** Tokens per second of English speech with Whisper's vocabulary. */
const TOKENS_PER_SECOND = 3.5;
/** Ends an utterance. */
const PAUSE_SECONDS = 2.5;
/** Continuous speech fills almost the whole window of 30 s. */
const LONG = { utterances: 2, speechSeconds: 26 };
/** Four utterances are in the same batch only if they contain less than a minute of speech. */
const SHORT = { utterances: 4, speechSeconds: 12 };
const SAMPLE = join(import.meta.dirname, "../../demo/sample/sample.mp4");

requireFfmpeg();
const threads = Number(values.threads);
const batches = values.batches.split(",").map(Number);
const folder = await mkdtemp(join(tmpdir(), "subtext-bench-models-"));
const measured: MeasuredModel[] = [];
try {
  const encoderSpeed = await measureEncoderSpeedInWorker(threads);
  for (const name of values.models.split(",").map(fullName)) {
    for (const encoder of values.encoders.split(",") as Precision[]) {
      for (const decoder of values.decoders.split(",") as Precision[]) {
        measured.push(await measure(name, encoder, decoder));
        if (values.save) saveModelFigures(measured.slice(-1), { machine: MACHINE, threads, encoderSpeed });
      }
    }
  }
} finally {
  await rm(folder, { recursive: true });
}
console.log(MACHINE);
printTable(
  `Whisper models with random weights, ${TOKENS_PER_SECOND} tokens per second of speech, ${threads} threads`,
  [
    "model",
    "encoder",
    "decoder",
    "files",
    "speed",
    "CPU per s",
    "start",
    ...batches.map((rows) => `batch of ${rows}`),
  ],
  measured.map(({ model, encoder, decoder, encoderBytes, decoderBytes, time, peakBytes }) => [
    ...[model, encoder, decoder, `${Math.round((encoderBytes + decoderBytes) / 1e6)} MB`],
    time === null ? "" : `${time.speed} ×`,
    time === null ? "" : `${time.cpuPerSecond} s`,
    time === null ? "" : `${time.startSeconds} s`,
    ...batches.map((rows) => mebibytes(peakBytes[rows])),
  ]),
);

async function measure(model: string, encoder: Precision, decoder: Precision): Promise<MeasuredModel> {
  const dimensions = DIMENSIONS[model]!;
  await requireSpace(dimensions);
  const modelFolder = join(folder, model);
  const write = (speechSeconds: number) =>
    writeModelFolder(modelFolder, {
      ...{ dimensions, encoder, decoder, tokensPerSecond: TOKENS_PER_SECOND },
      textTokens: Math.round(TOKENS_PER_SECOND * speechSeconds),
    });
  const transcribe = async ({ utterances, speechSeconds }: typeof LONG, batchShare: number) => {
    const recording = join(folder, `${utterances}.flac`);
    makeUtterances(recording, utterances, speechSeconds);
    const result = await measureModel(modelFolder, recording, { threads, batchShare });
    const expected = utterances * Math.round(TOKENS_PER_SECOND * speechSeconds);
    if (result.words !== expected) {
      throw new Error(`${model} wrote ${result.words} words instead of ${expected}.`);
    }
    return result;
  };
  try {
    let time: MeasuredModel["time"] = null;
    const peakBytes: MeasuredModel["peakBytes"] = {};
    if (values.measure.includes("time")) {
      write(LONG.speechSeconds);
      const { startSeconds, seconds, cpuSeconds, ...result } = await transcribe(LONG, 1);
      // Batches of large models are limited to one utterance.
      if (2 * bytesPerRow(dimensions) > MAX_BATCH_BYTES) peakBytes[1] = result.peakBytes;
      const duration = LONG.utterances * (LONG.speechSeconds + PAUSE_SECONDS);
      time = {
        startSeconds: rounded(startSeconds),
        speed: rounded(duration / seconds),
        cpuPerSecond: rounded(cpuSeconds / duration),
      };
    }
    if (values.measure.includes("memory")) {
      write(SHORT.speechSeconds);
      for (const rows of batches) {
        const batchShare = (rows * bytesPerRow(dimensions)) / MAX_BATCH_BYTES;
        peakBytes[rows] = (await transcribe(SHORT, batchShare)).peakBytes;
      }
    }
    const [encoderBytes, decoderBytes] = [
      await sizeOfGraph(modelFolder, "encoder"),
      await sizeOfGraph(modelFolder, "decoder"),
    ];
    const result = { model, encoder, decoder, encoderBytes, decoderBytes, time, peakBytes };
    console.error(JSON.stringify(result));
    return result;
  } finally {
    await rm(modelFolder, { recursive: true, force: true });
  }
}

function fullName(name: string): string {
  const found = [name, `whisper-${name}`].find((each) => each in DIMENSIONS);
  if (found === undefined) throw new Error(`There is no model ${name}.`);
  return found;
}

/** Single precision needs the most space: four bytes per weight in memory, and a margin on disk. */
async function requireSpace(dimensions: Dimensions): Promise<void> {
  const { width, encoderLayers, decoderLayers, vocabularySize } = dimensions;
  const weights = width ** 2 * (12 * encoderLayers + 16 * decoderLayers) + width * vocabularySize;
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < 5 * weights) throw new Error(`${folder} has too little space for a model.`);
  if (freemem() < 4 * weights) throw new Error("There is too little free memory for a model.");
}

async function sizeOfGraph(modelFolder: string, graph: string): Promise<number> {
  const graphs = join(modelFolder, "onnx");
  const names = (await readdir(graphs)).filter((name) => name.startsWith(graph));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(graphs, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function bytesPerRow({ decoderLayers, width }: Dimensions): number {
  return rowBytes({
    ...{ decoderLayers, width, encoderFrames: ENCODER_FRAMES, maxTokens: MAX_TOKENS },
    storedHeads: ALIGNMENT_HEADS,
  });
}

function makeUtterances(path: string, utterances: number, speechSeconds: number): void {
  const indexes = Array.from({ length: utterances }, (_, index) => index);
  const parts = indexes.map(
    (index) =>
      `[0:a]atrim=${index}:${index + speechSeconds},asetpts=N/SR/TB,apad=pad_dur=${PAUSE_SECONDS}[a${index}]`,
  );
  const joined = `${indexes.map((index) => `[a${index}]`).join("")}concat=n=${utterances}:v=0:a=1[out]`;
  const graph = [...parts, joined].join(";");
  ffmpeg("-i", SAMPLE, "-filter_complex", graph, "-map", "[out]", "-ac", "1", "-ar", "16000", path);
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

function mebibytes(bytes: number | undefined): string {
  return bytes === undefined ? "" : `${Math.round(bytes / 1024 ** 2)} MiB`;
}
