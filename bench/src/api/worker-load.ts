import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../../server/test/support/free-port.ts";
import { acceptVideos, type QueueParts } from "../queue/videos.ts";
import { isRunning, startWorkers, stopWorkers } from "../queue/workers.ts";
import { SpawnedService, type Tenant } from "../spawned-service.ts";

const SAMPLE = resolve(import.meta.dirname, "../../../demo/sample/sample.mp4");
export const WAITING_WORKERS = 4;
/** Two seconds of work for the waiting workers. */
const QUEUE_LENGTH = 32;
const RECORDINGS = 60;
const CONCURRENT_UPLOADS = 4;

/** Starts workers whose engine only waits, and queues videos as fast as the workers complete them. */
export async function startWaitingWorkers(
  parts: QueueParts,
  { url, folder, tenant }: { url: string; folder: string; tenant: Tenant },
  resources: AsyncDisposableStack,
): Promise<void> {
  const workers = await startWorkers({ url, folder, count: WAITING_WORKERS });
  resources.defer(() => stopWorkers(workers));
  const stop = new AbortController();
  const feed = async () => {
    while (!stop.signal.aborted) {
      const missing = QUEUE_LENGTH - (await countOpen(parts, ["PENDING"]));
      await acceptVideos(parts, [tenant.environmentId], Math.max(0, missing));
      await sleep(100);
    }
  };
  const feeding = feed();
  feeding.catch(() => {});
  resources.defer(async () => {
    stop.abort();
    await feeding;
    // These workers must not claim the recordings that are uploaded next.
    while (workers.every(isRunning) && (await countOpen(parts)) > 0) await sleep(100);
  });
  while ((await countOpen(parts, ["PROCESSING"])) === 0) await sleep(50);
  await sleep(1_000);
}

/** Starts a worker process with the bundled engine, which transcribes one recording per core concurrently. */
export async function startTranscribingWorker(
  parts: QueueParts,
  { settings, folder }: { settings: Record<string, string>; folder: string },
  resources: AsyncDisposableStack,
): Promise<void> {
  const cores = String(availableParallelism());
  const worker = new SpawnedService(join(folder, "worker"), await freePort(), {
    ...settings,
    ROLE: "worker",
    SPEECH_PROCESSES: cores,
    SPEECH_THREADS: "1",
  });
  resources.defer(() => worker.end("SIGTERM"));
  await worker.start();
  // When every core has completed a recording, the engines are loaded.
  const before = await countCompleted(parts);
  while ((await countCompleted(parts)) < before + availableParallelism()) {
    if ((await countOpen(parts)) === 0) throw new Error("the recordings could not be transcribed");
    await sleep(50);
  }
}

/** Uploads more recordings than a worker transcribes in one round. */
export async function uploadRecordings(api: SpawnedService, tenant: Tenant): Promise<void> {
  let left = RECORDINGS;
  const upload = async () => {
    while (left-- > 0) await api.upload(tenant, SAMPLE);
  };
  await Promise.all(Array.from({ length: CONCURRENT_UPLOADS }, upload));
}

export async function countOpen(
  { db }: QueueParts,
  statuses: ("PENDING" | "PROCESSING")[] = ["PENDING", "PROCESSING"],
): Promise<number> {
  const { open } = await db
    .selectFrom("transcription")
    .select(({ fn }) => fn.countAll<number>().as("open"))
    .where("status", "in", statuses)
    .executeTakeFirstOrThrow();
  return Number(open);
}

export async function countCompleted({ db }: QueueParts): Promise<number> {
  const { completed } = await db
    .selectFrom("transcription")
    .select(({ fn }) => fn.countAll<number>().as("completed"))
    .where("status", "=", "COMPLETED")
    .executeTakeFirstOrThrow();
  return Number(completed);
}
