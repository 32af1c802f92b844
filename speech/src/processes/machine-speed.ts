import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EncoderSpeed } from "../models/estimated-speed.ts";
import { describeMachine } from "../models/measured-speed.ts";
import { measureEncoderSpeedInWorker } from "./model-worker.ts";

const FILE = "machine-speed.json";

/**
 * Returns the speed of this machine. The first call measures it for two seconds and stores it in the models folder.
 * @param threads threads of a speech process
 */
export async function machineSpeed(folder: string, threads: number): Promise<EncoderSpeed> {
  const stored = await storedMachineSpeed(folder, threads);
  if (stored !== null) return stored;
  const speed = await measureEncoderSpeedInWorker(threads);
  const machine = describeMachine(threads);
  await mkdir(folder, { recursive: true })
    .then(() => writeFile(join(folder, FILE), `${JSON.stringify({ machine, speed })}\n`))
    // If the folder is not writable, the only cost is another measurement.
    .catch(() => {});
  return speed;
}

/** Returns null if this machine has not been measured. */
export async function storedMachineSpeed(folder: string, threads: number): Promise<EncoderSpeed | null> {
  try {
    const { machine, speed } = JSON.parse(await readFile(join(folder, FILE), "utf8"));
    return machine === describeMachine(threads) && speed.int8 > 0 && speed.fp32 > 0 ? speed : null;
  } catch {
    return null;
  }
}
