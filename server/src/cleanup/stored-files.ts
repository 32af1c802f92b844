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
 * - `needed`: a row references the file, or a running attempt writes it.
 * - `obsolete`: the file belongs to a deleted video or to a lost attempt.
 * - `unknown`: the database has no record of the file.
 */
export type FileState = "needed" | "obsolete" | "unknown";

export interface StoredFile {
  /** The key in a bucket, without the bucket's prefix. */
  key: string;
  store: Schema["unknown_file"]["store"];
  state: FileState;
  sizeBytes(): Promise<number>;
  remove(): Promise<void>;
}

const BATCH = 500;

/** Yields all stored recordings, including unfinished uploads, and all transcript files, in batches. */
export async function* listStoredFiles(deps: StoredFilesDeps): AsyncGenerator<StoredFile[]> {
  for await (const ids of batches(deps.recordings.list(), BATCH)) yield await recordingsOf(deps, ids);
  for await (const keys of batches(deps.transcripts.list(TRANSCRIPTS_PREFIX), BATCH)) {
    yield await transcriptFilesOf(deps, keys);
  }
}

/** Reads the rows after listing the files. Rows are inserted before their files, so a file without a row is not new. */
async function recordingsOf({ db, recordings }: StoredFilesDeps, listed: string[]): Promise<StoredFile[]> {
  // A bucket lists an upload once per part.
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
  // A row references a waveform separately, so a waveform can be obsolete although the files next to it are needed.
  const isReferenced =
    key === waveformKey(prefix)
      ? row.waveform_prefix === prefix
      : row.status === "COMPLETED" && row.file_prefix === prefix;
  if (isReferenced || (row.status === "PROCESSING" && row.attempt === attempt)) return "needed";
  // A higher attempt number means that a newer copy of this database wrote the file.
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
