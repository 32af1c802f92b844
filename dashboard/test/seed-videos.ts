import { newId } from "../../server/src/lib/ids.ts";
import type { Service } from "../../server/src/main.ts";
import { newJobId } from "../../server/src/queue/queue.ts";
import { enqueue } from "../../server/src/queue/transcription-jobs.ts";
import { insertVideo } from "../../server/src/videos/queries.ts";

type Fields = Record<string, unknown>;

/** Inserts videos in every state, and pauses the queue so that they keep their states. */
export async function seedEveryState({ parts }: Service, environmentId: string): Promise<void> {
  const db = parts.database.kysely;
  await parts.queue.pause();
  const add = async (filename: string, sizeBytes: number, transcription: Fields | null, uploaded = true) => {
    const id = newId("video");
    const now = new Date();
    await insertVideo(db, { id, environmentId, metadata: { filename }, sizeBytes, now });
    if (!uploaded) return;
    const ai_transcription = transcription !== null;
    await db.updateTable("video").set({ uploaded_at: now, ai_transcription }).where("id", "=", id).execute();
    if (!transcription) return;
    const row = {
      id: newId("transcription"),
      video_id: id,
      environment_id: environmentId,
      job_id: newJobId(),
      stages: "null",
      created_at: now,
      queued_at: now,
      ...transcription,
    };
    await db
      .insertInto("transcription")
      .values(row as never)
      .execute();
    if (transcription.status !== "PENDING") return;
    const job = { jobId: row.job_id, transcriptionId: row.id, environmentId };
    await db.transaction().execute((tx) => enqueue({ tx, queue: parts.queue }, job));
  };
  const completed = { status: "COMPLETED", language: "en", progress: 1, file_prefix: "none" };
  await add("all-hands-2026-03.mp4", 812_000_000, { ...completed, duration: 3723.5, word_count: 9214 });
  await add("entrevista con la directora.mov", 231_400_000, {
    ...completed,
    language: "es",
    duration: 754.1,
    word_count: 1822,
  });
  await add("b-roll harbour.mp4", 64_000_000, { status: "SKIPPED", skip_reason: "silent_audio_track" });
  await add("notes.pdf.mp4", 120_000, {
    status: "FAILED",
    failure_code: "unreadable_media",
    failure_message: "The file contains neither audio nor video.",
  });
  await add("before the switch.mp4", 44_000_000, null);
  await add("customer call, Tuesday.mp4", 189_000_000, {
    status: "PROCESSING",
    progress: 0.42,
    remaining_seconds: 38,
    duration: 2412,
  });
  await add("weekly.mp4", 92_000_000, { status: "PENDING" });
  await add("keynote.mkv", 1_240_000_000, { status: "PENDING" });
  await add("phone-recording.mp4", 20_000_000, null, false);
}
