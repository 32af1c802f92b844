import { type KnownModel, withEncoder } from "./catalog.ts";
import type { Manifest } from "./manifest.ts";
import { BENCHMARK_SPEED, MODEL_FIGURES } from "./model-figures.ts";

/** Speed of one encoder layer on a machine, 10⁹ operations per second, keyed by the precision of its weights. */
export interface EncoderSpeed {
  int8: number;
  fp32: number;
}

export interface ModelSpeed {
  /** Multiple of real time, on this machine. */
  realTime: number;
  /** True if transcriptions have reached this speed; false for an estimate. */
  isMeasured: boolean;
}

/** What is known about the speed of an installed model. */
export interface KnownSpeeds {
  /** Null until there is enough speech. */
  measured: MeasuredSpeed | null;
  /** Null until the machine is measured. */
  machine: EncoderSpeed | null;
}

/** The speed that transcriptions have reached. */
export interface MeasuredSpeed {
  realTime: number;
  /** See `isFastEnough`. */
  isFastEnough: boolean;
}

/** Decides what recognizes clear English: the bundled engine, or a more accurate but slower model. */
export type SpeechPriority = "auto" | "quality" | "speed";
export const SPEECH_PRIORITIES: readonly [SpeechPriority, ...SpeechPriority[]] = ["auto", "quality", "speed"];

/** Minimum multiple of real time at which a model recognizes clear English with `auto`. */
const MIN_ENGLISH_SPEED = 4;
/** Below this, a model stops recognizing clear English. The margin keeps recordings from alternating between engines. */
const MIN_CONTINUED_ENGLISH_SPEED = 3.5;

/** Estimates the speed of a model in multiples of real time, scaled from the measurement on the benchmark machine. */
export function estimateSpeed({ name, encoder }: KnownModel, machine: EncoderSpeed): number | null {
  const measured = MODEL_FIGURES[name]?.[encoder];
  // Half precision is converted to single precision.
  const precision = encoder === "int8" ? "int8" : "fp32";
  return measured ? (measured.speed * machine[precision]) / BENCHMARK_SPEED[precision] : null;
}

/** Returns the speed that transcriptions have reached, or else an estimate; null if neither is known. */
export function speedOf(model: KnownModel | null, { measured, machine }: KnownSpeeds): ModelSpeed | null {
  if (measured !== null) return { realTime: measured.realTime, isMeasured: true };
  const realTime = model && machine && estimateSpeed(model, machine);
  return realTime === null ? null : { realTime, isMeasured: false };
}

/**
 * Returns whether a model is fast enough for clear English.
 * @param wasFastEnough the last result; false if there is none
 */
export function isFastEnough(realTime: number, wasFastEnough: boolean): boolean {
  return realTime >= (wasFastEnough ? MIN_CONTINUED_ENGLISH_SPEED : MIN_ENGLISH_SPEED);
}

/**
 * Returns whether the bundled engine recognizes clear English instead of the model.
 * @param model null if the model is not in the catalog. Such a model, or one of unknown speed, recognizes English itself.
 */
export function bundledTakesEnglish(
  model: KnownModel | null,
  priority: SpeechPriority,
  speeds: KnownSpeeds,
): boolean {
  if (model?.prefersBundledForEnglish) return true;
  if (priority !== "auto") return priority === "speed";
  const speed = speedOf(model, speeds);
  return (
    model !== null &&
    speed !== null &&
    !(speeds.measured?.isFastEnough ?? isFastEnough(speed.realTime, false))
  );
}

/** Returns the model with the encoder that is installed. */
export function asInstalled(model: KnownModel, manifest: Manifest | null): KnownModel {
  const paths = new Set(manifest?.files.map(({ path }) => path));
  const variants = model.encoders.map((encoder) => withEncoder(model, encoder));
  return variants.find(({ files }) => files.every((path) => paths.has(path))) ?? model;
}
