import { newId } from "../../src/lib/ids.ts";
import type { Service } from "../../src/main.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { fileKey, filePrefix } from "../../src/storage/transcript-files.ts";
import { seedTranscript } from "../support/seed-transcript.ts";

/** Inserts videos whose transcription FAILED. Returns their ids, oldest first. */
export async function seedFailed(
  { parts }: Service,
  environmentId: string,
  count: number,
  { name = "broken" }: { name?: string } = {},
): Promise<string[]> {
  const db = parts.database.kysely;
  const now = parts.clock.now();
  const ids = Array.from({ length: count }, () => newId("video")).sort();
  const uploaded = { created_at: now, uploaded_at: now, ai_transcription: true, size_bytes: 1000 };
  const videos = ids.map((id, index) => ({
    id,
    environment_id: environmentId,
    metadata: JSON.stringify({ filename: `${name} ${index}.mp4` }),
    ...uploaded,
  }));
  const transcriptions = ids.map((id) => ({
    id: newId("transcription"),
    video_id: id,
    environment_id: environmentId,
    status: "FAILED" as const,
    failure_code: "unreadable_media",
    failure_message: "The file contains neither audio nor video.",
    job_id: newJobId(),
    attempt: 1,
    stages: "null",
    created_at: now,
    queued_at: now,
    finished_at: now,
  }));
  for (let from = 0; from < count; from += 1_000) {
    await db
      .insertInto("video")
      .values(videos.slice(from, from + 1_000))
      .execute();
    await db
      .insertInto("transcription")
      .values(transcriptions.slice(from, from + 1_000))
      .execute();
  }
  return ids;
}

/** Inserts a video with a completed transcription and its three files. Returns the video's id. */
export async function seedTranscriptFiles(
  service: Service,
  {
    environmentId,
    filename,
    text = "Hello there.",
  }: { environmentId: string; filename: string; text?: string | undefined },
): Promise<string> {
  const bytes = (content: string) => new TextEncoder().encode(content);
  const { videoId } = await seedTranscript(service, {
    environmentId,
    language: "en",
    text,
    filename,
    async store({ transcriptionId }) {
      const prefix = filePrefix(transcriptionId, 1);
      await service.parts.transcripts.put(fileKey(prefix, "vtt"), bytes(`WEBVTT\n\n${text}\n`));
      await service.parts.transcripts.put(fileKey(prefix, "txt"), bytes(`${text}\n`));
    },
  });
  return videoId;
}
