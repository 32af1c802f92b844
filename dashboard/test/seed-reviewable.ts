import type { Service } from "../../server/src/main.ts";
import { channelsKey, confidenceKey, filePrefix } from "../../server/src/storage/transcript-files.ts";
import { storeWaveform } from "../../server/src/transcription/render.ts";
import {
  type SeededTranscript,
  seedSearchable,
  type TranscriptSeed,
} from "../../server/test/support/seed-transcript.ts";
import { writeRecording } from "../../server/test/support/stored-recording.ts";

interface Reviewable extends Pick<TranscriptSeed, "environmentId" | "filename"> {
  text?: string;
  /** Indexes of words with a low confidence. */
  doubtful?: readonly number[];
  channels?: readonly number[];
  /** Length of a silent recording to store. If omitted, the video cannot be played. */
  recordingSeconds?: number;
}

/** By default, the words "Jon" and "bugdet" have a low confidence. */
export const REVIEWABLE_TEXT =
  "We asked Jon about the budget. He told us that the bugdet is fine and that John agrees.";

/** Inserts a video with a transcript that has something to correct. */
export async function seedReviewable(
  service: Service,
  { text = REVIEWABLE_TEXT, doubtful = [2, 11], channels, recordingSeconds, ...seed }: Reviewable,
): Promise<SeededTranscript> {
  const seeded = await seedSearchable(service, {
    ...seed,
    language: "en",
    text,
    async store({ transcriptionId }) {
      const confidences = text.split(" ").map((_, index) => (doubtful.includes(index) ? 0.3 : 0.95));
      const prefix = filePrefix(transcriptionId, 1);
      const { transcripts } = service.parts;
      await transcripts.put(confidenceKey(prefix), Buffer.from(JSON.stringify(confidences)));
      if (channels) await transcripts.put(channelsKey(prefix), Buffer.from(JSON.stringify(channels)));
    },
  });
  if (recordingSeconds) {
    await writeRecording(service, seeded.videoId, silence(recordingSeconds));
    await storeSilentWaveform(service, seeded.transcriptionId, recordingSeconds);
  }
  return seeded;
}

async function storeSilentWaveform(
  { parts }: Service,
  transcriptionId: string,
  duration: number,
): Promise<void> {
  const prefix = filePrefix(transcriptionId, 1);
  const peaks = Buffer.alloc(duration * 10).toString("base64");
  await storeWaveform(parts.transcripts, prefix, {
    duration,
    whole: true,
    peaksPerSecond: 10,
    peaks,
    speech: [],
  });
  await parts.database.kysely
    .updateTable("transcription")
    .set({ waveform_prefix: prefix })
    .where("id", "=", transcriptionId)
    .execute();
}

/** Returns a WAV file. */
function silence(seconds: number): Buffer {
  const rate = 4_000;
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + seconds * rate, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write("data", 36);
  header.writeUInt32LE(seconds * rate, 40);
  return Buffer.concat([header, Buffer.alloc(seconds * rate, 128)]);
}
