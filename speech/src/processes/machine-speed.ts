import { mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import type { EncoderSpeed } from "../models/estimated-speed.ts";
import { measureEncoderSpeedInWorker } from "./model-worker.ts";

const FILE = "machine-speed.json";

/**
 * Returns the speed of this machine. The first call measures it for two seconds and stores it in the models folder.
 * @param threads threads of a speech process
 */
export async function machineSpeed(folder: string, threads: number): Promise<EncoderSpeed> {
  const machine = `${cpus()[0]?.model ?? "unknown processor"}, ${threads} threads`;
  const path = join(folder, FILE);
  const stored = await readStored(path);
  if (stored?.machine === machine) return stored.speed;
  const speed = await measureEncoderSpeedInWorker(threads);
  await mkdir(folder, { recursive: true })
    .then(() => writeFile(path, `${JSON.stringify({ machine, speed })}\n`))
    // If the folder is not writable, the only cost is another measurement.
    .catch(() => {});
  return speed;
}

async function readStored(path: string): Promise<{ machine: string; speed: EncoderSpeed } | null> {
  try {
    const { machine, speed } = JSON.parse(await readFile(path, "utf8"));
    return speed.int8 > 0 && speed.fp32 > 0 ? { machine, speed } : null;
  } catch {
    return null;
  }
}
