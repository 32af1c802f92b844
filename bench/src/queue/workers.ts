import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const WORKER = join(import.meta.dirname, "../../../server/test/transcription/waiting-worker.ts");

export const CONCURRENCY = 4;
/** Default duration of the simulated transcription of a video. */
export const RECOGNITION_MS = 1_000;

export interface WaitingWorkers {
  url: string;
  /** Parent of the workers' data folders. */
  folder: string;
  count: number;
  recognitionMs?: number;
}

/** Starts worker processes with an engine that only waits. Resolves when all of them accept jobs. */
export async function startWorkers({
  url,
  folder,
  count,
  recognitionMs = RECOGNITION_MS,
}: WaitingWorkers): Promise<ChildProcess[]> {
  const workers = Array.from({ length: count }, (_, number) =>
    spawn(process.execPath, [WORKER], {
      env: {
        ...process.env,
        DATABASE_URL: url,
        DATA_DIR: join(folder, `worker-${number}`),
        FILES_FOLDER: join(folder, "files"),
        RECOGNITION_MS: String(recognitionMs),
        WORKER_CONCURRENCY: String(CONCURRENCY),
        LOG_LEVEL: "error",
      },
      stdio: ["ignore", "pipe", "inherit"],
    }),
  );
  try {
    await Promise.all(
      workers.map((worker) =>
        Promise.race([
          once(worker.stdout!, "data"),
          once(worker, "exit").then(() => Promise.reject(new Error("a worker exited during startup"))),
        ]),
      ),
    );
  } catch (error) {
    await stopWorkers(workers);
    throw error;
  }
  return workers;
}

export async function stopWorkers(workers: ChildProcess[]): Promise<void> {
  await Promise.all(
    workers.map(async (worker) => {
      if (!isRunning(worker)) return;
      const ended = once(worker, "exit");
      worker.kill("SIGTERM");
      await ended;
    }),
  );
}

export function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}
