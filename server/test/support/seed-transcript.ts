import { renderJson } from "@subtext/captions/json";
import { normalizeWords, type Word } from "@subtext/captions/words";
import type { Db } from "../../src/db/schema.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Service } from "../../src/main.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { insertSearchDocument } from "../../src/search/document-queries.ts";
import { indexTranscript } from "../../src/search/index-transcript.ts";
import { fileKey, filePrefix } from "../../src/storage/transcript-files.ts";
import type { TranscriptStore } from "../../src/storage/transcript-store.ts";
import { insertVideo } from "../../src/videos/queries.ts";

export interface SeededTranscript {
  videoId: string;
  transcriptionId: string;
  jobId: string;
}

export interface TranscriptSeed {
  environmentId: string;
  language: string;
  /** Split into words at whitespace. Each word takes half a second. */
  text: string;
  filename?: string;
  /** Stores more files. Runs before the rows are inserted. */
  store?(made: SeededTranscript): Promise<void>;
}

/** Inserts a video with a completed transcription. Does not index it for search. */
export async function seedTranscript(service: Service, seed: TranscriptSeed): Promise<SeededTranscript> {
  const { environmentId, language, text, filename = "made.mp4" } = seed;
  const db = service.parts.database.kysely;
  const now = service.parts.clock.now();
  const words = wordsOf(text);
  const duration = words.at(-1)?.end ?? 1;
  const seeded = { videoId: newId("video"), transcriptionId: newId("transcription"), jobId: newJobId() };
  const prefix = filePrefix(seeded.transcriptionId, 1);
  await service.parts.transcripts.put(fileKey(prefix, "json"), new TextEncoder().encode(renderJson(words)));
  await seed.store?.(seeded);
  await db.transaction().execute(async (tx) => {
    const { videoId, transcriptionId, jobId } = seeded;
    await insertVideo(tx, { id: videoId, environmentId, metadata: { filename }, sizeBytes: 1, now });
    const uploaded = { uploaded_at: now, ai_transcription: true };
    await tx.updateTable("video").set(uploaded).where("id", "=", videoId).execute();
    await tx
      .insertInto("transcription")
      .values({
        id: transcriptionId,
        video_id: videoId,
        environment_id: environmentId,
        status: "COMPLETED",
        job_id: newJobId(),
        attempt: 1,
        language,
        word_count: words.length,
        duration,
        file_prefix: prefix,
        stages: "null",
        created_at: now,
        queued_at: now,
        finished_at: now,
      })
      .execute();
    await insertSearchDocument(tx, { transcriptionId, environmentId, jobId });
  });
  return seeded;
}

/** Like `seedTranscript`, but also indexes the transcript for search. */
export async function seedSearchable(service: Service, seed: TranscriptSeed): Promise<SeededTranscript> {
  const seeded = await seedTranscript(service, seed);
  await indexSeeded(service, seeded);
  return seeded;
}

export async function indexSeeded(
  service: Service,
  { transcriptionId, jobId }: Pick<SeededTranscript, "transcriptionId" | "jobId">,
  {
    db = service.parts.database.kysely,
    transcripts = service.parts.transcripts,
    shutdown = new AbortController().signal,
    retryCount = 0,
  }: { db?: Db; transcripts?: TranscriptStore; shutdown?: AbortSignal; retryCount?: number } = {},
): Promise<void> {
  const { clock, log } = service.parts;
  const deps = { db, transcripts, clock, log };
  const job = { id: jobId, subjectId: transcriptionId, signal: new AbortController().signal, retryCount };
  await indexTranscript(deps, job, shutdown);
}

function wordsOf(text: string): Word[] {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const timed = words.map((word, index) => ({ word, start: index / 2, end: index / 2 + 0.5 }));
  return normalizeWords(timed, words.length / 2);
}
