import type { FileFormat } from "@subtext/client/contract/transcription";
import { sql } from "kysely";
import type { Db } from "../db/schema.ts";
import type { MissingPart } from "../db/tables/stored-files.ts";

/** The files that should exist according to a video's rows. */
export interface StoredParts {
  videoId: string;
  /** Whether the recording should exist. */
  recording: boolean;
  /** Null if the video has neither a transcript nor a poster. Without a transcript, `versions` is empty. */
  transcript: { id: string; versions: StoredVersion[]; posterPrefix: string | null } | null;
}

/** The recognized original or a revision. */
interface StoredVersion {
  prefix: string;
  formats: FileFormat[];
}

/** Only the words of earlier versions are read. Some versions also predate the newer formats. */
const FORMATS_OF_EARLIER_VERSIONS: FileFormat[] = ["json"];

export interface MissingFile {
  videoId: string;
  part: MissingPart;
}

/** Lists videos in the order of their ids. */
export async function listStoredParts(
  db: Db,
  { after, limit }: { after: string; limit: number },
): Promise<StoredParts[]> {
  const rows = await db
    .selectFrom("video")
    // A lateral join, because the planner may execute a plain join by scanning both tables for every page.
    .leftJoinLateral(
      (of) =>
        of
          .selectFrom("transcription")
          .select(["id", "file_prefix", "edited_prefix", "file_formats", "poster_prefix"])
          .select((transcription) =>
            transcription
              .selectFrom("transcript_revision")
              .select(sql<string[] | null>`array_agg(transcript_revision.file_prefix)`.as("prefixes"))
              .whereRef("transcription_id", "=", "transcription.id")
              .as("revision_prefixes"),
          )
          .whereRef("video_id", "=", "video.id")
          .limit(1)
          .as("transcription"),
      (join) => join.onTrue(),
    )
    .select(["video.id", "video.uploaded_at", "video.recording_deleted_at"])
    .select(["transcription.id as transcription_id", "transcription.file_prefix", "poster_prefix"])
    .select(["edited_prefix", "transcription.file_formats", "transcription.revision_prefixes"])
    .where("video.id", ">", after)
    .orderBy("video.id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    videoId: row.id,
    recording: row.uploaded_at !== null && row.recording_deleted_at === null,
    transcript:
      row.transcription_id !== null && (row.file_prefix !== null || row.poster_prefix !== null)
        ? {
            id: row.transcription_id,
            versions: versionsOf(row),
            posterPrefix: row.poster_prefix,
          }
        : null,
  }));
}

function versionsOf({
  file_prefix,
  edited_prefix,
  file_formats,
  revision_prefixes,
}: {
  file_prefix: string | null;
  edited_prefix: string | null;
  file_formats: FileFormat[] | null;
  revision_prefixes: string[] | null;
}): StoredVersion[] {
  if (file_prefix === null) return [];
  const current = edited_prefix ?? file_prefix;
  return [...new Set([file_prefix, ...(revision_prefixes ?? [])])].map((prefix) => ({
    prefix,
    formats: prefix === current ? (file_formats ?? []) : FORMATS_OF_EARLIER_VERSIONS,
  }));
}

/**
 * Records missing files, and removes the records of files that exist again. Ignores videos that were deleted in the
 * meantime.
 * @returns the missing files that were not recorded before
 */
export async function recordMissingFiles(
  db: Db,
  { checkedIds, missing, now }: { checkedIds: string[]; missing: MissingFile[]; now: Date },
): Promise<MissingFile[]> {
  return await db.transaction().execute(async (tx) => {
    const known = await tx
      .selectFrom("missing_file")
      .select(["video_id as videoId", "part"])
      .where("video_id", "in", checkedIds)
      .execute();
    const includesFile = (list: MissingFile[], file: MissingFile) =>
      list.some(({ videoId, part }) => videoId === file.videoId && part === file.part);
    for (const file of known) {
      if (includesFile(missing, file)) continue;
      await tx
        .deleteFrom("missing_file")
        .where("video_id", "=", file.videoId)
        .where("part", "=", file.part)
        .execute();
    }
    const newlyMissing = missing.filter((file) => !includesFile(known, file));
    for (const { videoId, part } of newlyMissing) {
      await sql`
        insert into missing_file (video_id, part, noticed_at)
        select id, ${part}, ${now} from video where id = ${videoId} for key share
        on conflict do nothing`.execute(tx);
    }
    return newlyMissing;
  });
}

/** Returns the number of videos with missing files, example ids, and the time of the last complete check. */
export async function readMissingFiles(
  db: Db,
): Promise<{ missing: Record<MissingPart, number>; examples: string[]; checkedAt: Date | null }> {
  const counts = await db
    .selectFrom("missing_file")
    .select(["part", (query) => query.fn.countAll<number>().as("count")])
    .groupBy("part")
    .execute();
  const of = (part: MissingPart) => Number(counts.find((row) => row.part === part)?.count ?? 0);
  const examples = await db
    .selectFrom("missing_file")
    .select("video_id")
    .distinct()
    .orderBy("video_id")
    .limit(3)
    .execute();
  return {
    missing: { recording: of("recording"), transcript: of("transcript") },
    examples: examples.map(({ video_id }) => video_id),
    checkedAt: (await readFileCheck(db))?.roundEndedAt ?? null,
  };
}

/** Returns how far the check of all files has come; null before the first check. */
export async function readFileCheck(db: Db): Promise<{ position: string; roundEndedAt: Date | null } | null> {
  const row = await db.selectFrom("file_check").select(["position", "round_ended_at"]).executeTakeFirst();
  return row ? { position: row.position, roundEndedAt: row.round_ended_at } : null;
}

/** @param roundEndedAt null if the check is not complete, which keeps the time of the last complete check */
export async function writeFileCheck(db: Db, position: string, roundEndedAt: Date | null): Promise<void> {
  await db
    .insertInto("file_check")
    .values({ position, round_ended_at: roundEndedAt })
    .onConflict((conflict) =>
      conflict
        .column("only")
        .doUpdateSet({ position, ...(roundEndedAt && { round_ended_at: roundEndedAt }) }),
    )
    .execute();
}
