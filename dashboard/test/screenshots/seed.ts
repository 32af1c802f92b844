import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { newId } from "../../../server/src/lib/ids.ts";
import type { Service } from "../../../server/src/main.ts";
import { newJobId } from "../../../server/src/queue/queue.ts";
import { filePrefix, posterKey } from "../../../server/src/storage/transcript-files.ts";
import { insertVideo } from "../../../server/src/videos/queries.ts";
import { drawStills, type Still } from "./stills.ts";

const HOUR_MS = 3_600_000;

interface VideoSeed {
  filename: string;
  megabytes: number;
  minutesAgo: number;
  /** Columns of the transcription; null if AI Transcription was off, undefined during the upload. */
  transcription: Record<string, unknown> | null | undefined;
  still?: Still;
}

const completed = (language: string, minutes: number, words: number, speed = 31) => ({
  status: "COMPLETED",
  language,
  progress: 1,
  duration: minutes * 60,
  word_count: words,
  file_prefix: "none",
  engine: language === "en" ? "moonshine-tiny" : "whisper-small",
  stages: JSON.stringify({
    probe: 0.1,
    decode: 4,
    voiceActivity: 6,
    engine: 30,
    total: (minutes * 60) / (language === "en" ? speed : speed / 9),
  }),
});

const VIDEOS: VideoSeed[] = [
  {
    filename:
      "Quarterly planning with product, design, sales and everyone who joined from the Berlin office, final version 2.mp4",
    megabytes: 93,
    minutesAgo: 345,
    still: { kind: "slide", title: "Q1 planning", accent: "#4453c9" },
    transcription: completed("en", 19, 2801),
  },
  {
    filename: "اجتماع الفريق الأسبوعي.mp4",
    megabytes: 148,
    minutesAgo: 338,
    still: { kind: "call", people: ["#3d6b8e", "#8e5b3d"] },
    transcription: completed("ar", 24, 2544),
  },
  {
    filename: "Tokyo office tour.mov",
    megabytes: 305,
    minutesAgo: 325,
    still: { kind: "street" },
    transcription: completed("ja", 36, 8120),
  },
  {
    filename: "2026-11 all-hands.mp4",
    megabytes: 812,
    minutesAgo: 310,
    still: { kind: "slide", title: "All-hands", accent: "#15713f" },
    transcription: completed("en", 62, 9214),
  },
  {
    filename: "Entrevista con la directora.mov",
    megabytes: 231,
    minutesAgo: 240,
    still: { kind: "call", people: ["#7a4b8e"] },
    transcription: completed("es", 12.6, 1822),
  },
  {
    filename: "Harbor b-roll, no sound.mp4",
    megabytes: 64,
    minutesAgo: 225,
    still: { kind: "harbor" },
    transcription: { status: "SKIPPED", skip_reason: "silent_audio_track" },
  },
  {
    filename: "Onboarding, day 1.mp4",
    megabytes: 344,
    minutesAgo: 190,
    still: { kind: "slide", title: "Welcome!", accent: "#b3541e" },
    transcription: completed("en", 41, 6120),
  },
  {
    filename: "Reunião de produto.webm",
    megabytes: 118,
    minutesAgo: 150,
    still: { kind: "call", people: ["#3d8e6b", "#8e3d52", "#3d528e", "#8e7a3d"] },
    transcription: completed("pt", 28, 3911),
  },
  { filename: "Before the switch.mp4", megabytes: 44, minutesAgo: 121, transcription: null },
  {
    filename: "Customer call, Nordwind.mp4",
    megabytes: 189,
    minutesAgo: 95,
    still: { kind: "call", people: ["#2f4f6f", "#6f2f4f"] },
    transcription: completed("de", 33, 4027),
  },
  {
    filename: "minutes.pdf.mp4",
    megabytes: 0.12,
    minutesAgo: 64,
    transcription: {
      status: "FAILED",
      failure_code: "unreadable_media",
      failure_message: "The file contains neither audio nor video.",
    },
  },
  {
    filename: "Webinar, questions and answers.mkv",
    megabytes: 402,
    minutesAgo: 31,
    still: { kind: "stage" },
    transcription: completed("en", 47, 7215),
  },
  {
    filename: "Design review, Tuesday.mp4",
    megabytes: 276,
    minutesAgo: 6,
    transcription: { status: "PROCESSING", progress: 0.62, remaining_seconds: 38, duration: 2412 },
  },
  {
    filename: "Keynote, main stage.mkv",
    megabytes: 1240,
    minutesAgo: 3,
    transcription: { status: "PENDING" },
  },
  {
    filename: "Weekly, platform team.mp4",
    megabytes: 92,
    minutesAgo: 2,
    transcription: { status: "PENDING" },
  },
  { filename: "Field recording 014.mp4", megabytes: 520, minutesAgo: 0.5, transcription: undefined },
];

/** Inserts the videos of a busy, healthy server. */
export async function seedShowcase(
  service: Service,
  browser: Browser,
  environmentId: string,
  sampleVideoId: string,
): Promise<void> {
  const now = Date.now();
  const pictures = await drawStills(
    browser,
    VIDEOS.flatMap(({ still }) => still ?? []),
  );
  for (const video of VIDEOS) {
    const picture = video.still && pictures.shift();
    await add(service, environmentId, now, video, picture);
  }
  // The list is sorted by id. The sample video was created first, so its time must be the oldest.
  const firstTime = new Date(now - 6 * HOUR_MS);
  const { kysely } = service.parts.database;
  await kysely.updateTable("video").set({ created_at: firstTime }).where("id", "=", sampleVideoId).execute();
}

/** Inserts transcriptions of the last 24 hours, for the system page. */
export async function seedDay(service: Service, environmentId: string): Promise<void> {
  const now = Date.now();
  for (let hour = 23; hour >= 0; hour--) {
    const count = Math.round(9 + 7 * Math.sin((hour - 5) / 3.4) + (hour % 3));
    for (let each = 0; each < count; each++) {
      const failed = (hour * 7 + each) % 23 === 0;
      const transcription = failed
        ? { status: "FAILED", failure_code: "unreadable_media", failure_message: "" }
        : completed(each % 4 === 0 ? "fr" : "en", 8 + ((hour + each * 5) % 40), 1500);
      const minutesAgo = hour * 60 + 58 - (each * 53) / count;
      await add(service, environmentId, now, {
        filename: `recording ${hour}-${each}.mp4`,
        megabytes: 80,
        minutesAgo,
        transcription,
      });
    }
  }
}

async function add(
  service: Service,
  environmentId: string,
  now: number,
  seed: VideoSeed,
  picture?: Buffer,
): Promise<void> {
  const db = service.parts.database.kysely;
  const at = new Date(now - seed.minutesAgo * (HOUR_MS / 60));
  const id = newId("video");
  const sizeBytes = Math.round(seed.megabytes * 1e6);
  await insertVideo(db, { id, environmentId, metadata: { filename: seed.filename }, sizeBytes, now: at });
  const { transcription } = seed;
  if (transcription === undefined) {
    // A sparse file occupies no space.
    const file = join(service.parts.config.dataFolder, "uploads", id);
    await writeFile(file, "");
    await truncate(file, Math.floor(sizeBytes * 0.37));
    return;
  }
  const uploaded = { uploaded_at: at, ai_transcription: transcription !== null };
  await db.updateTable("video").set(uploaded).where("id", "=", id).execute();
  if (transcription === null) return;
  const ended = transcription.status !== "PENDING" && transcription.status !== "PROCESSING";
  const row = {
    id: newId("transcription"),
    video_id: id,
    environment_id: environmentId,
    job_id: newJobId(),
    stages: "null",
    created_at: at,
    queued_at: at,
    ...(transcription.status !== "PENDING" && { started_at: at }),
    ...(ended && { finished_at: new Date(at.getTime() + 60_000) }),
    ...transcription,
  };
  await db
    .insertInto("transcription")
    .values(row as never)
    .execute();
  if (!picture) return;
  const prefix = filePrefix(row.id, 1);
  await service.parts.transcripts.put(posterKey(prefix), picture);
  await db
    .updateTable("transcription")
    .set({ poster_ended_at: at, poster_prefix: prefix })
    .where("id", "=", row.id)
    .execute();
}

/** Inserts a bulk operation that is two thirds done and does not continue. */
export async function seedBulkOperation({ parts }: Service, environmentId: string): Promise<void> {
  const counts = { matched: 180, done: 118, failed: 2 };
  const row = { id: newId("operation"), environment_id: environmentId, kind: "retry", state: "running" };
  await parts.database.kysely
    .insertInto("bulk_operation")
    .values({ ...row, ...counts, created_at: parts.clock.now() } as never)
    .execute();
}
