import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { basename, join } from "node:path";
import type { TranscribeResult } from "../transcript.ts";
import { isFastEnough, type MeasuredSpeed } from "./estimated-speed.ts";
import { readManifest, writeJson } from "./manifest.ts";

const FILE = "speed.json";
/** A window of the model has 30 s. With much less speech, most of the work is for silence. */
const MIN_RECORDING_SECONDS = 20;
/** Too little speech may say more about other load on the machine than about the model. */
const MIN_SPEECH_SECONDS = 120;
/** Each further recording replaces a share of the average, so that it follows changes of the machine. */
const MAX_SPEECH_SECONDS = 3_600;

/** `speed.json` in the folder of an installed model, which is removed with the model. */
export interface MeasuredWork {
  /** Folders may be shared by several machines. */
  machine: string;
  speechSeconds: number;
  /** Wall-clock seconds in which the model was busy. */
  workSeconds: number;
  /** The last result of `isFastEnough`, which the next call needs. */
  isFastEnough: boolean;
}

/** @param threads threads of a speech process */
export function describeMachine(threads: number): string {
  return `${cpus()[0]?.model ?? "unknown processor"}, ${threads} threads`;
}

/** Returns the speed that the model in the folder has reached on this machine; null if unknown. */
export async function readMeasuredSpeed(folder: string, threads: number): Promise<MeasuredSpeed | null> {
  return speedOfWork(await readWork(folder, describeMachine(threads)));
}

function speedOfWork(work: MeasuredWork): MeasuredSpeed | null {
  if (work.speechSeconds < MIN_SPEECH_SECONDS) return null;
  const realTime = work.speechSeconds / work.workSeconds;
  return { realTime, isFastEnough: isFastEnough(realTime, work.isFastEnough) };
}

/**
 * Adds a transcription to the measured speed of an installed model. Ignores recordings with little speech and those that
 * another engine transcribed in part.
 * @throws Error if the folder is not writable
 */
export async function recordSpeed(folder: string, threads: number, result: TranscribeResult): Promise<void> {
  if (result.outcome === "skipped" || result.speechSeconds < MIN_RECORDING_SECONDS) return;
  const { languageSegments, speechSeconds, stages } = result;
  const name = basename(folder);
  const isByModel = languageSegments.length > 0 && languageSegments.every(({ engine }) => engine === name);
  if (!isByModel || stages.engine <= 0 || (await readManifest(folder)) === null) return;
  const before = await readWork(folder, describeMachine(threads));
  await writeJson(join(folder, FILE), addWork(before, { speechSeconds, workSeconds: stages.engine }));
}

function addWork(
  before: MeasuredWork,
  added: Pick<MeasuredWork, "speechSeconds" | "workSeconds">,
): MeasuredWork {
  const speechSeconds = before.speechSeconds + added.speechSeconds;
  const workSeconds = before.workSeconds + added.workSeconds;
  const share = Math.min(1, MAX_SPEECH_SECONDS / speechSeconds);
  const work = { ...before, speechSeconds: share * speechSeconds, workSeconds: share * workSeconds };
  return { ...work, isFastEnough: speedOfWork(work)?.isFastEnough ?? false };
}

/** Returns no work if the file is missing or invalid, or is from another machine. */
async function readWork(folder: string, machine: string): Promise<MeasuredWork> {
  try {
    const { speechSeconds, workSeconds, ...stored } = JSON.parse(await readFile(join(folder, FILE), "utf8"));
    if (stored.machine === machine && speechSeconds > 0 && workSeconds > 0)
      return { machine, speechSeconds, workSeconds, isFastEnough: stored.isFastEnough === true };
  } catch {
    // The next recording writes the file again.
  }
  return { machine, speechSeconds: 0, workSeconds: 0, isFastEnough: false };
}
