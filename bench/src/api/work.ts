import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { acceptVideos, type QueueParts } from "../queue/videos.ts";
import { isRunning, startWorkers, stopWorkers } from "../queue/workers.ts";
import { freePort, SpawnedService, sleep, type Tenant } from "../spawned-service.ts";

const SAMPLE = resolve(import.meta.dirname, "../../../demo/sample/sample.mp4");
export const WAITING_WORKERS = 4;
/** Length of the queue for the waiting workers: two seconds of work. */
const KEPT_QUEUED = 32;
const RECORDINGS = 60;
const UPLOADS_AT_A_TIME = 4;

/** Starts workers whose engine only waits, and queues videos as fast as the workers complete them. */
export async function startWaitingWorkers(
  parts: QueueParts,
  { url, folder, tenant }: { url: string; folder: string; tenant: Tenant },
  resources: AsyncDisposableStack,
): Promise<void> {
  const workers = await startWorkers({ url, folder, count: WAITING_WORKERS });
  resources.defer(() => stopWorkers(workers));
  const full = new AbortController();
  const feed = async () => {
    while (!full.signal.aborted) {
      const missing = KEPT_QUEUED - (await countOpen(parts, ["PENDING"]));
      await acceptVideos(parts, [tenant.environmentId], Math.max(0, missing));
      await sleep(100);
    }
  };
  // These workers also process the remaining recordings of the previous round.
  const feeding = feed();
  feeding.catch(() => {});
  resources.defer(async () => {
    full.abort();
    await feeding;
    // The next recordings are only for the transcribing worker.
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
  // After some completed recordings, the engine is loaded.
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
  await Promise.all(Array.from({ length: UPLOADS_AT_A_TIME }, upload));
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
