import type { Db, Schema, TranscriptionRow } from "../db/schema.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { parseFileKey, TRANSCRIPTS_PREFIX, waveformKey } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { findTranscriptions } from "../transcription/queries.ts";
import { recordingStates } from "../videos/queries.ts";
import { findTombstones } from "./tombstone-queries.ts";

export interface StoredFilesDeps {
  db: Db;
  recordings: RecordingStore;
  transcripts: TranscriptStore;
}

/**
 * What the database knows about a stored file: a row needs it, or it belongs to something that was deleted or to an
 * attempt that was lost, or it is unknown.
 */
export type FileState = "needed" | "obsolete" | "unknown";

export interface StoredFile {
  /** As in a bucket, without its prefix. */
  key: string;
  store: Schema["unknown_file"]["store"];
  state: FileState;
  sizeBytes(): Promise<number>;
  remove(): Promise<void>;
}

const BATCH = 500;

/** Every recording, whole or in parts, and every transcript file that is stored. */
export async function* listStoredFiles(deps: StoredFilesDeps): AsyncGenerator<StoredFile[]> {
  for await (const ids of batches(deps.recordings.list(), BATCH)) yield await recordingsOf(deps, ids);
  for await (const keys of batches(deps.transcripts.list(TRANSCRIPTS_PREFIX), BATCH)) {
    yield await transcriptFilesOf(deps, keys);
  }
}

/** Rows are written before their files and deleted before them, so the files are listed first. */
async function recordingsOf({ db, recordings }: StoredFilesDeps, listed: string[]): Promise<StoredFile[]> {
  // A bucket lists an upload once for each of its parts.
  const ids = [...new Set(listed)];
  const rows = await recordingStates(db, ids);
  const tombstones = await findTombstones(
    db,
    ids.filter((id) => !rows.has(id)),
  );
  const stateOf = (id: string): FileState => {
    const row = rows.get(id);
    if (row) return row.deleted ? "obsolete" : "needed";
    return tombstones.has(id) ? "obsolete" : "unknown";
  };
  return ids.map((id) => ({
    key: `uploads/${id}`,
    store: "recordings",
    state: stateOf(id),
    sizeBytes: async () => (await recordings.inspect(id))?.sizeBytes ?? 0,
    remove: () => recordings.remove(id),
  }));
}

async function transcriptFilesOf(
  { db, transcripts }: StoredFilesDeps,
  keys: string[],
): Promise<StoredFile[]> {
  const owners = new Map(keys.map((key) => [key, parseFileKey(key)]));
  const ids = [...new Set([...owners.values()].flatMap((owner) => owner?.transcriptionId ?? []))];
  const rows = await findTranscriptions(db, ids);
  const tombstones = await findTombstones(
    db,
    ids.filter((id) => !rows.has(id)),
  );
  const stateOf = (key: string): FileState => {
    const owner = owners.get(key);
    if (!owner) return "unknown";
    const row = rows.get(owner.transcriptionId);
    if (row) return stateByRow(key, owner, row);
    return tombstones.has(owner.transcriptionId) ? "obsolete" : "unknown";
  };
  return keys.map((key) => ({
    key: `files/${key}`,
    store: "transcripts",
    state: stateOf(key),
    sizeBytes: async () => (await transcripts.inspect(key))?.sizeBytes ?? 0,
    remove: () => transcripts.remove(key),
  }));
}

function stateByRow(
  key: string,
  { attempt, prefix }: { attempt: number; prefix: string },
  row: TranscriptionRow,
): FileState {
  // A waveform that was stored but not confirmed is next to files that rows name, but no row names it.
  const isCurrentJob =
    key === waveformKey(prefix)
      ? row.waveform_prefix === prefix
      : row.status === "COMPLETED" && row.file_prefix === prefix;
  if (isCurrentJob || (row.status === "PROCESSING" && row.attempt === attempt)) return "needed";
  // An attempt that this database has no record of was made by a newer state of it.
  return attempt <= row.attempt ? "obsolete" : "unknown";
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
