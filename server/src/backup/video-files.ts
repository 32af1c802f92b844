import type { SnapshotQuery } from "../db/database.ts";

/** A video's files, with paths relative to the data folder. */
export interface VideoFiles {
  videoId: string;
  /** False while the recording is still growing. */
  isUploaded: boolean;
  /** Null if retention deleted it. */
  recording: string | null;
  /** Folders of the files of all revisions of the transcript, of the waveform and of the poster. */
  folders: string[];
}

const BATCH = 500;

interface Row {
  id: string;
  is_uploaded: boolean;
  is_deleted: boolean;
  file_prefix: string | null;
  waveform_prefix: string | null;
  poster_prefix: string | null;
  /** Null if nobody has changed the transcript. */
  revision_prefixes: string[] | null;
}

/** Null if there are none. */
const REVISION_PREFIXES = `(
    select array_agg(revision.file_prefix) from transcript_revision as revision
    where revision.transcription_id = transcription.id
  ) as revision_prefixes`;

const SELECT = `
  select video.id, video.uploaded_at is not null as is_uploaded,
    video.recording_deleted_at is not null as is_deleted, file_prefix, waveform_prefix, poster_prefix,
    ${REVISION_PREFIXES}
  from video`;
const SELECT_JOINED = `${SELECT} left join transcription on transcription.video_id = video.id`;
/** A lateral join, because the planner may execute a plain join by scanning both tables for every page. */
const SELECT_LATERAL = `${SELECT} left join lateral (
    select id, file_prefix, waveform_prefix, poster_prefix from transcription where video_id = video.id limit 1
  ) as transcription on true`;

/** Lists the files of all videos, in the order of the videos' ids. */
export async function* listVideoFiles(query: SnapshotQuery): AsyncGenerator<VideoFiles> {
  let after = "";
  for (;;) {
    const rows = await query<Row>(`${SELECT_LATERAL} where video.id > $1 order by video.id limit ${BATCH}`, [
      after,
    ]);
    for (const row of rows) yield toVideoFiles(row);
    if (rows.length < BATCH) return;
    after = rows.at(-1)!.id;
  }
}

/**
 * Lists the files of the given videos and of videos that changed.
 * @param since by the database's clock; also compared with the last change of the transcription
 */
export async function listChangedVideoFiles(
  query: SnapshotQuery,
  since: Date,
  videoIds: string[],
): Promise<VideoFiles[]> {
  const rows = await query<Row>(
    `${SELECT_JOINED} where video.changed_at >= $1 or transcription.changed_at >= $1
      or video.id in (select jsonb_array_elements_text($2::jsonb))`,
    [since.toISOString(), JSON.stringify(videoIds)],
  );
  return rows.map(toVideoFiles);
}

/** Lists the recordings of unfinished uploads. */
export async function listOpenRecordings(query: SnapshotQuery): Promise<string[]> {
  const rows = await query<{ id: string }>("select id from video where uploaded_at is null");
  return rows.map(({ id }) => `uploads/${id}`);
}

function toVideoFiles(row: Row): VideoFiles {
  const { id, is_uploaded, is_deleted, file_prefix, waveform_prefix, poster_prefix, revision_prefixes } = row;
  const all = [file_prefix, waveform_prefix, poster_prefix, ...(revision_prefixes ?? [])];
  const prefixes = new Set(all.filter((prefix) => prefix !== null));
  return {
    videoId: id,
    isUploaded: is_uploaded,
    recording: is_deleted ? null : `uploads/${id}`,
    folders: [...prefixes].map((prefix) => `files/${prefix}`),
  };
}
