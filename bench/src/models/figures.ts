import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EncoderSpeed } from "@subtext/speech/models/estimated-speed";
import type { Precision } from "@subtext/speech/models/precision";

const FILE = join(import.meta.dirname, "../../../docs/figures/models.json");

/** What models with random weights need on one machine. The catalog and the documentation are generated from it. */
export interface ModelFigures {
  command: string;
  machine: string;
  /** ISO 8601 UTC, of the last run. */
  measuredAt: string;
  threads: number;
  /** What the micro-benchmark before an installation measures on this machine. */
  encoderSpeed: EncoderSpeed;
  models: MeasuredModel[];
}

export interface MeasuredModel {
  model: string;
  encoder: Precision;
  decoder: Precision;
  encoderBytes: number;
  decoderBytes: number;
  /** Null until measured. */
  time: ModelTime | null;
  /** Peak of the resident memory of the speech process, keyed by the number of utterances per batch. */
  peakBytes: Record<string, number>;
}

export interface ModelTime {
  /** From the start of the speech process until it is ready. */
  startSeconds: number;
  /** Media seconds per second, without the start. */
  speed: number;
  /** CPU seconds of all threads per second of media, without the start. */
  cpuPerSecond: number;
}

/** Circumstances of a run. */
export type Run = Pick<ModelFigures, "machine" | "threads" | "encoderSpeed">;

export function readModelFigures(): ModelFigures {
  return JSON.parse(readFileSync(FILE, "utf8"));
}

/** Adds to the stored figures of the same machine, or replaces the figures of another one. */
export function saveModelFigures(measured: readonly MeasuredModel[], run: Run): void {
  const saved = readSaved();
  const isSameMachine = saved?.machine === run.machine && saved.threads === run.threads;
  const models = new Map((isSameMachine ? saved.models : []).map((each) => [keyOf(each), each]));
  for (const each of measured) {
    const before = models.get(keyOf(each));
    models.set(keyOf(each), {
      ...each,
      time: each.time ?? before?.time ?? null,
      peakBytes: { ...before?.peakBytes, ...each.peakBytes },
    });
  }
  const figures: ModelFigures = {
    command: "npm run bench:models",
    ...run,
    encoderSpeed: isSameMachine ? fasterOf(saved.encoderSpeed, run.encoderSpeed) : run.encoderSpeed,
    measuredAt: new Date().toISOString(),
    models: [...models.values()].toSorted(
      (a, b) => a.encoderBytes + a.decoderBytes - b.encoderBytes - b.decoderBytes,
    ),
  };
  writeFileSync(FILE, `${JSON.stringify(figures, null, 2)}\n`);
}

function keyOf({ model, encoder, decoder }: MeasuredModel): string {
  return [model, encoder, decoder].join(" ");
}

/** Other load on the machine can only make a measurement slower. */
function fasterOf(a: EncoderSpeed, b: EncoderSpeed): EncoderSpeed {
  return { int8: Math.round(Math.max(a.int8, b.int8)), fp32: Math.round(Math.max(a.fp32, b.fp32)) };
}

function readSaved(): ModelFigures | null {
  try {
    return readModelFigures();
  } catch {
    return null;
  }
}
