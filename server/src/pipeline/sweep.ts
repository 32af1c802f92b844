import type { Logger } from "pino";
import { ANSWERS_KEPT_MS, forgetAnswers } from "../db/idempotency-keys.ts";
import {
  findDeliveriesWithoutJob,
  findTranscriptionsWithoutJob,
  type JobLoss,
  replaceDeliveryJob,
  replaceTranscriptionJob,
} from "../db/lost-jobs.ts";
import type { Tx, VideoRow } from "../db/schema.ts";
import {
  findDocumentsWithoutJob,
  insertMissingDocuments,
  replaceDocumentJob,
} from "../db/search-documents.ts";
import { findTranscriptions } from "../db/transcriptions.ts";
import { deleteOpenUpload, existingVideoIds, findVideo, listOpenUploads } from "../db/videos.ts";
import { newJobId, type QueueName } from "../queue.ts";
import type { Sources } from "../storage/sources.ts";
import type { Storage } from "../storage/storage.ts";
import { ownerOf, TRANSCRIPTS_PREFIX, waveformKey } from "../storage/transcript-files.ts";
import { type AcceptDeps, acceptUpload } from "./accept.ts";

export interface SweepDeps extends AcceptDeps {
  sources: Sources;
  storage: Storage;
  uploadExpiryMs: number;
  log: Logger;
}

export interface Sweeper {
  /** Resolves when no sweep runs any more. */
  stop(): Promise<void>;
}

/** Looking for strays reads every file's name, so it is done at every so many sweeps only. */
const STRAYS_AT_EVERY = 12;
const BATCH = 500;
/** Small, for on the embedded database everybody else waits meanwhile. */
const UNINDEXED_BATCH = 50;

/** Sweeps now and then every so often, one sweep at a time. */
export function startSweeping(deps: SweepDeps, everyMs: number): Sweeper {
  const stopped = new AbortController();
  let sweeping = Promise.resolve();
  let sweeps = 0;
  const start = () => {
    const strays = sweeps % STRAYS_AT_EVERY === 0;
    sweeps += 1;
    sweeping = sweeping.then(() => sweep(deps, { strays, signal: stopped.signal }));
  };
  start();
  const timer = setInterval(start, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      stopped.abort();
      await sweeping;
    },
  };
}

/**
 * Puts right what a crash can leave between a file, its row and its job: takes in uploads that finished
 * without being accepted, removes uploads that have expired, gives rows a new job where theirs is gone, and
 * removes files that no row owns. Forgets answers to POSTs that nobody may repeat any more. Safe beside live traffic and beside other processes that sweep. A part
 * that fails is logged and does not keep the others from their work.
 */
export async function sweep(
  deps: SweepDeps,
  { strays, signal }: { strays: boolean; signal: AbortSignal },
): Promise<void> {
  const parts = [
    sweepOpenUploads,
    ...(strays ? [sweepUnindexed] : []),
    sweepLostJobs,
    sweepOldAnswers,
    ...(strays ? [sweepStraySources, sweepStrayTranscripts] : []),
  ];
  for (const part of parts) {
    if (signal.aborted) return;
    await part(deps, signal).catch((error) =>
      deps.log.error({ err: error, part: part.name }, "a sweep failed"),
    );
  }
}

async function sweepOpenUploads(deps: SweepDeps, signal: AbortSignal): Promise<void> {
  const { db, log } = deps;
  for (const video of await listOpenUploads(db)) {
    if (signal.aborted) return;
    try {
      await sweepOpenUpload(deps, video);
    } catch (error) {
      // Its file goes while it is looked at, where it is deleted meanwhile.
      if (await findVideo(db, video.id))
        log.error({ err: error, videoId: video.id }, "an upload can not be swept");
    }
  }
}

async function sweepOpenUpload(deps: SweepDeps, video: VideoRow): Promise<void> {
  const { db, sources, clock, log, uploadExpiryMs } = deps;
  const file = await sources.inspect(video.id);
  if (file !== null && file.sizeBytes === video.size_bytes) {
    await sources.sync(video.id);
    if (await acceptUpload(deps, { videoId: video.id, sizeBytes: file.sizeBytes })) {
      log.info({ videoId: video.id }, "a finished upload was taken in late");
    }
    return;
  }
  const lastSign = Math.max(video.created_at.getTime(), file?.writtenAt.getTime() ?? 0);
  if (lastSign + uploadExpiryMs < clock.now().getTime()) {
    // The row first: without it the file is stray, and a later sweep would find it.
    if (await deleteOpenUpload(db, video.id)) await sources.remove(video.id);
    log.info({ videoId: video.id }, "an expired upload was removed");
  }
}

/** They hold what was shown once, such as signing secrets. */
async function sweepOldAnswers({ db, clock }: SweepDeps): Promise<void> {
  await forgetAnswers(db, new Date(clock.now().getTime() - ANSWERS_KEPT_MS));
}

/** What was completed by a release that knew no search. */
async function sweepUnindexed({ db, queue, log }: SweepDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const documents = await db.transaction().execute(async (tx) => {
      const made = await insertMissingDocuments(tx, UNINDEXED_BATCH);
      for (const { id, jobId } of made) await queue.send(tx, "index", { id: jobId, subjectId: id });
      return made;
    });
    if (documents.length === 0) return;
    log.info({ transcripts: documents.length }, "transcripts will be made searchable");
  }
}

async function sweepLostJobs(deps: SweepDeps, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  await replaceJobs(
    deps,
    "transcribe",
    await findTranscriptionsWithoutJob(db),
    replaceTranscriptionJob,
    signal,
  );
  await replaceJobs(deps, "deliver", await findDeliveriesWithoutJob(db), replaceDeliveryJob, signal);
  await replaceJobs(deps, "index", await findDocumentsWithoutJob(db), replaceDocumentJob, signal);
}

async function replaceJobs(
  { db, queue, log }: SweepDeps,
  name: QueueName,
  losses: JobLoss[],
  replace: (tx: Tx, loss: JobLoss, newId: string) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  for (const loss of losses) {
    if (signal.aborted) return;
    const jobId = newJobId();
    await db.transaction().execute(async (tx) => {
      if (!(await replace(tx, loss, jobId))) return;
      const startAfter = loss.dueAt ? { startAfter: loss.dueAt } : {};
      await queue.send(tx, name, { id: jobId, subjectId: loss.id, ...startAfter });
      log.warn({ queue: name, subjectId: loss.id }, "a lost job was replaced");
    });
  }
}

async function sweepStraySources({ db, sources, log }: SweepDeps, signal: AbortSignal): Promise<void> {
  for await (const videoIds of batches(sources.list(), BATCH)) {
    if (signal.aborted) return;
    // Rows are made before their files, so a file without one has lost it.
    const known = await existingVideoIds(db, videoIds);
    for (const videoId of videoIds.filter((id) => !known.has(id))) {
      await sources.remove(videoId);
      log.info({ videoId }, "a recording without a video was removed");
    }
  }
}

async function sweepStrayTranscripts({ db, storage, log }: SweepDeps, signal: AbortSignal): Promise<void> {
  for await (const keys of batches(storage.list(TRANSCRIPTS_PREFIX), BATCH)) {
    if (signal.aborted) return;
    const owners = new Map(keys.map((key) => [key, ownerOf(key)]));
    const ids = [...owners.values()].flatMap((owner) => owner?.transcriptionId ?? []);
    const rows = await findTranscriptions(db, [...new Set(ids)]);
    for (const [key, owner] of owners) {
      const row = owner ? rows.get(owner.transcriptionId) : undefined;
      const beingWritten = row?.status === "PROCESSING" && row.attempt === owner?.attempt;
      const owned = row?.status === "COMPLETED" && row.file_prefix === owner?.prefix;
      const drawn =
        owner !== null && row?.waveform_prefix === owner.prefix && key === waveformKey(owner.prefix);
      if (beingWritten || owned || drawn) continue;
      await storage.remove(key);
      log.info({ key }, "a transcript file without a transcription was removed");
    }
  }
}

async function* batches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
