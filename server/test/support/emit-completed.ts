import { newId } from "../../src/lib/ids.ts";
import type { Service } from "../../src/main.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { emitEvent } from "../../src/webhooks/emit.ts";

/** Inserts a video with a completed transcription and its event, but no files. Returns the video's id. */
export async function emitCompleted(
  { parts }: Pick<Service, "parts">,
  environmentId: string,
): Promise<string> {
  const { database, queue, clock } = parts;
  const now = clock.now();
  const videoId = newId("video");
  const transcriptionId = newId("transcription");
  await database.kysely.transaction().execute(async (tx) => {
    await tx
      .insertInto("video")
      .values({
        id: videoId,
        environment_id: environmentId,
        metadata: JSON.stringify({ filename: "all-hands.mp4" }),
        size_bytes: 1,
        created_at: now,
      })
      .execute();
    await tx
      .insertInto("transcription")
      .values({
        id: transcriptionId,
        video_id: videoId,
        environment_id: environmentId,
        status: "COMPLETED",
        job_id: newJobId(),
        file_prefix: `transcripts/${transcriptionId}/1`,
        language: "en",
        word_count: 77,
        duration: 31.5,
        stages: "null",
        created_at: now,
        queued_at: now,
        finished_at: now,
      })
      .execute();
    const about = { id: transcriptionId, environment_id: environmentId };
    await emitEvent({ tx, queue, now }, about, "transcriptions.transcription.completed", {});
  });
  return videoId;
}
