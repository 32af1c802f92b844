import { referencedPrefixes } from "../corrections/queries.ts";
import type { Db, Schema } from "../db/schema.ts";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";
import type { Clock } from "../lib/clock.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import {
  parseEditKey,
  parseFileKey,
  posterKey,
  TRANSCRIPTS_PREFIX,
  waveformKey,
} from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { findTranscriptions } from "../transcription/queries.ts";
import { recordingStates } from "../videos/queries.ts";
import { findTombstones } from "./tombstone-queries.ts";

export interface StoredFilesDeps {
  db: Db;
  recordings: RecordingStore;
  transcripts: TranscriptStore;
  clock: Clock;
}

/**
 * - `needed`: a row references the file, a running attempt or poster job may write it, or it is from a recent save.
 * - `obsolete`: the file belongs to a deleted video, to a lost attempt, or to a replaced or lost save.
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
/**
 * A save can be replaced for 10 minutes, and signed URLs of its files are valid for another 5 minutes. The rest allows
 * for clock skew.
 */
const REPLACED_FILES_MS = 3_600_000;

/** Yields all stored recordings, including unfinished uploads, and all transcript files, in batches. */
export async function* listStoredFiles(deps: StoredFilesDeps): AsyncGenerator<StoredFile[]> {
  for await (const ids of batches(deps.recordings.list(), BATCH)) yield await recordingsOf(deps, ids);
  for await (const keys of batches(deps.transcripts.list(TRANSCRIPTS_PREFIX), BATCH)) {
    yield await transcriptFilesOf(deps, keys);
  }
}

/** The attempt or the save that wrote a file. */
type FileOwner = NonNullable<ReturnType<typeof parseFileKey> | ReturnType<typeof parseEditKey>>;

/** Reads the rows after listing the files. Rows are inserted before their files, so a file without a row is not new. */
async function recordingsOf({ db, recordings }: StoredFilesDeps, listed: string[]): Promise<StoredFile[]> {
  // A bucket may list an upload more than once, for example as a multipart upload and as a tail.
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
  { db, transcripts, clock }: StoredFilesDeps,
  keys: string[],
): Promise<StoredFile[]> {
  const owners = new Map<string, FileOwner | null>(
    keys.map((key) => [key, parseFileKey(key) ?? parseEditKey(key)]),
  );
  const ids = [...new Set([...owners.values()].flatMap((owner) => owner?.transcriptionId ?? []))];
  const rows = await findTranscriptions(db, ids);
  const revisions = await referencedPrefixes(db, ids);
  const tombstones = await findTombstones(
    db,
    ids.filter((id) => !rows.has(id)),
  );
  const replacedBefore = new Date(clock.now().getTime() - REPLACED_FILES_MS);
  const stateOf = (key: string): FileState => {
    const owner = owners.get(key);
    if (!owner) return "unknown";
    const row = rows.get(owner.transcriptionId);
    if (!row) return tombstones.has(owner.transcriptionId) ? "obsolete" : "unknown";
    if (!("version" in owner)) return stateByRow(key, owner, row);
    return revisions.has(owner.prefix) ? "needed" : stateOfSave(owner, row, replacedBefore);
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
  const isBeingMade = row.poster_ended_at === null && row.attempt === attempt;
  // A row references the poster and the waveform separately, so they can be obsolete although the transcript is needed.
  const isNeeded =
    key === posterKey(prefix)
      ? row.poster_prefix === prefix || isBeingMade
      : key === waveformKey(prefix)
        ? row.waveform_prefix === prefix
        : row.status === "COMPLETED" && row.file_prefix === prefix;
  if (isNeeded || (row.status === "PROCESSING" && row.attempt === attempt)) return "needed";
  // A higher attempt number means that a newer copy of this database wrote the file.
  return attempt <= row.attempt ? "obsolete" : "unknown";
}

/** The state of a file of a save that no revision references. */
function stateOfSave(
  { version, savedAt }: { version: number; savedAt: Date },
  row: TranscriptionRow,
  replacedBefore: Date,
): FileState {
  if (savedAt >= replacedBefore) return "needed";
  // A higher version means that the save was not committed, or that a newer copy of this database wrote the file.
  return version <= row.edit_version ? "obsolete" : "unknown";
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
