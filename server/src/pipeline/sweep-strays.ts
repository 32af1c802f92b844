import type { Logger } from "pino";
import type { Db } from "../db/schema.ts";
import { findTranscriptions } from "../db/transcriptions.ts";
import { videosWithRecording } from "../db/videos.ts";
import type { Sources } from "../storage/sources.ts";
import type { Storage } from "../storage/storage.ts";
import { ownerOf, TRANSCRIPTS_PREFIX, waveformKey } from "../storage/transcript-files.ts";

export interface StraySweepDeps {
  db: Db;
  sources: Sources;
  storage: Storage;
  log: Logger;
}

const BATCH = 500;

/** Removes recordings, and parts of them, that no row owns. */
export async function sweepStraySources(
  { db, sources, log }: StraySweepDeps,
  signal: AbortSignal,
): Promise<void> {
  for await (const videoIds of batches(sources.list(), BATCH)) {
    if (signal.aborted) return;
    // Rows are made before their files, so a file without one has lost it.
    const owners = await videosWithRecording(db, videoIds);
    for (const videoId of videoIds.filter((id) => !owners.has(id))) {
      await sources.remove(videoId);
      log.info({ videoId }, "a recording without a video was removed");
    }
  }
}

/** Removes files of transcripts that no row names. */
export async function sweepStrayTranscripts(
  { db, storage, log }: StraySweepDeps,
  signal: AbortSignal,
): Promise<void> {
  for await (const keys of batches(storage.list(TRANSCRIPTS_PREFIX), BATCH)) {
    if (signal.aborted) return;
    const owners = new Map(keys.map((key) => [key, ownerOf(key)]));
    const ids = [...owners.values()].flatMap((owner) => owner?.transcriptionId ?? []);
    const rows = await findTranscriptions(db, [...new Set(ids)]);
    for (const [key, owner] of owners) {
      const row = owner ? rows.get(owner.transcriptionId) : undefined;
      const beingWritten = row?.status === "PROCESSING" && row.attempt === owner?.attempt;
      // A waveform that was stored and not confirmed lies beside files that are named, and is not.
      const isWaveform = owner !== null && key === waveformKey(owner.prefix);
      const named = isWaveform
        ? row?.waveform_prefix === owner.prefix
        : row?.status === "COMPLETED" && row.file_prefix === owner?.prefix;
      if (beingWritten || named) continue;
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
