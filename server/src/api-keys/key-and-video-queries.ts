import { sql } from "kysely";
import { prepared } from "../db/prepared.ts";
import type { Db } from "../db/schema.ts";
import type { ApiKeyRow } from "../db/tables/environments.ts";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";
import type { VideoRow } from "../db/tables/videos.ts";

/** What a request needs to know about its key. */
export type KeyRow = Omit<ApiKeyRow, "created_at">;

/** The client-visible columns of a video. */
export type PublicVideo = Pick<
  VideoRow,
  "id" | "environment_id" | "metadata" | "size_bytes" | "created_at" | "uploaded_at"
>;

/** The client-visible columns of a transcription. */
export type PublicTranscription = Pick<
  TranscriptionRow,
  | "id"
  | "video_id"
  | "environment_id"
  | "status"
  | "language"
  | "word_count"
  | "duration"
  | "file_prefix"
  | "edited_prefix"
  | "revision"
  | "edit_version"
  | "file_formats"
  | "failure_code"
  | "failure_message"
  | "skip_reason"
  | "incomplete"
  | "created_at"
  | "finished_at"
>;

export type VideoWithTranscription = PublicVideo & { transcription: PublicTranscription | undefined };

/** `video` is undefined if the key's environment has no such video, even if another environment has. */
export type KeyWithVideo = KeyRow & { video: VideoWithTranscription | undefined };

export interface KeyAndVideoIds {
  keyId: string;
  /** Null if the requested id is malformed. */
  videoId: string | null;
}

/**
 * Reads several keys in one statement, each with its requested video. Returns one result per request, in order;
 * undefined if the key does not exist.
 */
export async function findKeysWithVideos(
  db: Db,
  requests: readonly KeyAndVideoIds[],
): Promise<(KeyWithVideo | undefined)[]> {
  // Pads the list to a power of two, so that only a few different statements are prepared.
  const size = 2 ** Math.ceil(Math.log2(requests.length));
  const requested = Array.from({ length: size }, (_, ordinal) => {
    const { keyId = null, videoId = null } = requests[ordinal] ?? {};
    return sql`(${sql.lit(ordinal)}, ${keyId}::text, ${videoId}::text)`;
  });
  // Raw SQL, because Kysely takes as long to build this query as PostgreSQL to plan it. `offset 0` is an optimization
  // fence that makes PostgreSQL read each row by its id. Without it, the planner may choose the environment's index
  // while the table is small, and that plan would be cached.
  const { rows } = await sql<FoundRow>`${prepared}
    select
      requested.ordinal,
      k.id as key_id, k.environment_id, k.name, k.key_hash, k.permissions,
      k.expires_at, k.last_used_at, k.revoked_at,
      v.id as video_id, v.metadata, v.size_bytes, v.created_at as video_created_at, v.uploaded_at,
      t.id as transcription_id, t.status, t.language, t.word_count, t.duration, t.file_prefix, t.file_formats,
      t.edited_prefix, t.revision, t.edit_version,
      t.failure_code, t.failure_message, t.skip_reason, t.incomplete,
      t.created_at as transcription_created_at, t.finished_at
    from (values ${sql.join(requested)}) as requested (ordinal, key_id, video_id)
    join api_key k on k.id = requested.key_id
    left join lateral (select * from video where id = requested.video_id offset 0) v
      on v.environment_id = k.environment_id
    left join lateral (select * from transcription where video_id = v.id offset 0) t on true`.execute(db);
  const found = new Map(rows.map((row) => [row.ordinal, toKey(row)]));
  return requests.map((_request, ordinal) => found.get(ordinal));
}

/** The video's columns are null if `video_id` is, and the transcription's if `transcription_id` is. */
interface FoundRow extends Omit<KeyRow, "id"> {
  ordinal: number;
  key_id: string;
  video_id: string | null;
  metadata: PublicVideo["metadata"];
  size_bytes: PublicVideo["size_bytes"];
  video_created_at: Date;
  uploaded_at: Date | null;
  transcription_id: string | null;
  status: PublicTranscription["status"];
  language: string | null;
  word_count: number | null;
  duration: number | null;
  file_prefix: string | null;
  edited_prefix: string | null;
  revision: number;
  edit_version: number;
  file_formats: PublicTranscription["file_formats"];
  failure_code: string | null;
  failure_message: string | null;
  skip_reason: string | null;
  incomplete: boolean;
  transcription_created_at: Date;
  finished_at: Date | null;
}

function toKey(row: FoundRow): KeyWithVideo {
  return {
    id: row.key_id,
    environment_id: row.environment_id,
    name: row.name,
    key_hash: row.key_hash,
    permissions: row.permissions,
    expires_at: row.expires_at,
    last_used_at: row.last_used_at,
    revoked_at: row.revoked_at,
    video: row.video_id === null ? undefined : toVideo(row, row.video_id),
  };
}

function toVideo(row: FoundRow, id: string): VideoWithTranscription {
  return {
    id,
    environment_id: row.environment_id,
    metadata: row.metadata,
    size_bytes: row.size_bytes,
    created_at: row.video_created_at,
    uploaded_at: row.uploaded_at,
    transcription: row.transcription_id === null ? undefined : toTranscription(row, id, row.transcription_id),
  };
}

function toTranscription(row: FoundRow, videoId: string, id: string): PublicTranscription {
  return {
    id,
    video_id: videoId,
    environment_id: row.environment_id,
    status: row.status,
    language: row.language,
    word_count: row.word_count,
    duration: row.duration,
    file_prefix: row.file_prefix,
    edited_prefix: row.edited_prefix,
    revision: row.revision,
    edit_version: row.edit_version,
    file_formats: row.file_formats,
    failure_code: row.failure_code,
    failure_message: row.failure_message,
    skip_reason: row.skip_reason,
    incomplete: row.incomplete,
    created_at: row.transcription_created_at,
    finished_at: row.finished_at,
  };
}
