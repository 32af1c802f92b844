import type { Logger } from "pino";
import { findTranscription } from "../db/transcriptions.ts";
import { deleteOpenUpload, findVideo, listOpenUploads } from "../db/videos.ts";
import type { Sources } from "../storage/sources.ts";
import type { Storage } from "../storage/storage.ts";
import { ownerOf, TRANSCRIPTS_PREFIX } from "../storage/transcript-files.ts";
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

/** Sweeps now and then every so often, one sweep at a time. */
export function startSweeping(deps: SweepDeps, everyMs: number): Sweeper {
  const stopped = new AbortController();
  let sweeping = Promise.resolve();
  const start = () => {
    sweeping = sweeping
      .then(() => sweep(deps, stopped.signal))
      .catch((error) => deps.log.error({ err: error }, "the sweep failed"));
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
 * Puts right what a crash can leave between a file and its row: takes in uploads that finished without
 * being accepted, removes uploads that have expired, and files that no row owns. Safe beside live traffic
 * and beside other processes that sweep.
 */
export async function sweep(deps: SweepDeps, signal: AbortSignal): Promise<void> {
  await sweepOpenUploads(deps, signal);
  await sweepStraySources(deps, signal);
  await sweepStrayTranscripts(deps, signal);
}

async function sweepOpenUploads(deps: SweepDeps, signal: AbortSignal): Promise<void> {
  const { db, sources, clock, log, uploadExpiryMs } = deps;
  for (const video of await listOpenUploads(db)) {
    if (signal.aborted) return;
    const sizeBytes = await sources.sizeOf(video.id);
    if (sizeBytes !== null && sizeBytes === video.size_bytes) {
      await sources.sync(video.id);
      if (await acceptUpload(deps, { videoId: video.id, sizeBytes })) {
        log.info({ videoId: video.id }, "a finished upload was taken in late");
      }
    } else if (video.created_at.getTime() + uploadExpiryMs < clock.now().getTime()) {
      // The row first: without it the file is stray, and the next sweep would find it.
      if (await deleteOpenUpload(db, video.id)) await sources.remove(video.id);
      log.info({ videoId: video.id }, "an expired upload was removed");
    }
  }
}

async function sweepStraySources({ db, sources, log }: SweepDeps, signal: AbortSignal): Promise<void> {
  for await (const videoId of sources.list()) {
    if (signal.aborted) return;
    // Rows are made before their files, so a file without one has lost it.
    if (await findVideo(db, videoId)) continue;
    await sources.remove(videoId);
    log.info({ videoId }, "a recording without a video was removed");
  }
}

async function sweepStrayTranscripts({ db, storage, log }: SweepDeps, signal: AbortSignal): Promise<void> {
  for await (const key of storage.list(TRANSCRIPTS_PREFIX)) {
    if (signal.aborted) return;
    const owner = ownerOf(key);
    const row = owner && (await findTranscription(db, owner.transcriptionId));
    const beingWritten = row?.status === "PROCESSING" && row.attempt === owner?.attempt;
    const owned = row?.status === "COMPLETED" && row.file_prefix === owner?.prefix;
    if (beingWritten || owned) continue;
    await storage.remove(key);
    log.info({ key }, "a transcript file without a transcription was removed");
  }
}
