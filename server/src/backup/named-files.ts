import type { SnapshotQuery } from "../db/database.ts";

/** Files below the data folder that a video's rows name. */
export interface NamedFiles {
  videoId: string;
  /** False while its recording is still growing. */
  isUploaded: boolean;
  /** Null if retention deleted it. */
  recording: string | null;
  /** Folders of the transcript files and of the waveform. */
  folders: string[];
}

const BATCH = 500;

interface Row {
  id: string;
  is_uploaded: boolean;
  is_deleted: boolean;
  file_prefix: string | null;
  waveform_prefix: string | null;
}

const SELECT = `
  select video.id, video.uploaded_at is not null as is_uploaded,
    video.recording_deleted_at is not null as is_deleted, file_prefix, waveform_prefix
  from video`;
const JOINED = `${SELECT} left join transcription on transcription.video_id = video.id`;
/** A lateral join, because for a plain join the planner may scan both tables from the start for every page. */
const LOOKED_UP = `${SELECT} left join lateral (
    select file_prefix, waveform_prefix from transcription where video_id = video.id limit 1
  ) as transcription on true`;

/** Lists all videos in the order of their ids. */
export async function* listNamedFiles(query: SnapshotQuery): AsyncGenerator<NamedFiles> {
  let after = "";
  for (;;) {
    const rows = await query<Row>(`${LOOKED_UP} where video.id > $1 order by video.id limit ${BATCH}`, [
      after,
    ]);
    for (const row of rows) yield toNamedFiles(row);
    if (rows.length < BATCH) return;
    after = rows.at(-1)!.id;
  }
}

/** These videos, and all that changed (or whose transcription did) since then, by the database's clock. */
export async function listNamedSince(
  query: SnapshotQuery,
  since: Date,
  videoIds: string[],
): Promise<NamedFiles[]> {
  const rows = await query<Row>(
    `${JOINED} where video.changed_at >= $1 or transcription.changed_at >= $1
      or video.id in (select jsonb_array_elements_text($2::jsonb))`,
    [since.toISOString(), JSON.stringify(videoIds)],
  );
  return rows.map(toNamedFiles);
}

/** The recordings of unfinished uploads, which grow. */
export async function listOpenRecordings(query: SnapshotQuery): Promise<string[]> {
  const rows = await query<{ id: string }>("select id from video where uploaded_at is null");
  return rows.map(({ id }) => `uploads/${id}`);
}

function toNamedFiles({ id, is_uploaded, is_deleted, file_prefix, waveform_prefix }: Row): NamedFiles {
  const prefixes = new Set([file_prefix, waveform_prefix].filter((prefix) => prefix !== null));
  return {
    videoId: id,
    isUploaded: is_uploaded,
    recording: is_deleted ? null : `uploads/${id}`,
    folders: [...prefixes].map((prefix) => `files/${prefix}`),
  };
}
