import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SpawnedService, Tenant } from "@subtext/bench/spawned-service";
import type { Word } from "@subtext/captions/words";
import type { TranscriptionStatus } from "@subtext/client/contract/transcription";

const ROOT = resolve(import.meta.dirname, "../../..");
const SAMPLE = join(ROOT, "demo/sample/sample.mp4");
const SAMPLE_TEXT = join(ROOT, "demo/sample/sample.txt");
const MEDIA = join(ROOT, "speech/test/fixtures/media");

const SILENCE_SECONDS = 1_200;
/** Makes the file larger than one part of a multipart upload. */
const PADDING_BYTES = 6 * 1024 ** 2;
/** High, because the small engine makes many errors with synthetic voices. */
const MAX_MISSING_SHARE = 0.4;

const SENTENCES = [
  "The committee will meet again on Thursday morning to talk about the new library.",
  "Please remember to close the windows before you leave the house this evening.",
  "Our train was late because of heavy snow in the mountains near the border.",
  "She bought three apples and a loaf of bread at the market on the corner.",
];

export interface Recording {
  name: string;
  path: string;
  sizeBytes: number;
  expectedStatus: TranscriptionStatus;
  share: number;
  /** Null without speech. */
  spokenText: string | null;
  /** Transcript of the baseline run; empty before that run and without speech. */
  transcript: string;
}

/** Creates speech, and recordings that fail or are skipped. Some of them require espeak-ng or ffmpeg. */
export async function makeRecordings(folder: string): Promise<Recording[]> {
  const recordings: Recording[] = [];
  const add = async (
    name: string,
    path: string,
    expectedStatus: TranscriptionStatus,
    share: number,
    spokenText?: string,
  ) => {
    const { length: sizeBytes } = await readFile(path);
    recordings.push({
      name,
      path,
      sizeBytes,
      expectedStatus,
      share,
      spokenText: spokenText ?? null,
      transcript: "",
    });
  };
  const sampleText = await readFile(SAMPLE_TEXT, "utf8");
  await add("sample", SAMPLE, "COMPLETED", 8, sampleText);
  const padded = join(folder, "padded.mp4");
  await writeFile(padded, await readPadded(SAMPLE, PADDING_BYTES));
  await add("sample in several parts", padded, "COMPLETED", 4, sampleText);
  for (const [index, sentence] of SENTENCES.entries()) {
    const path = join(folder, `clip-${index}.wav`);
    try {
      execFileSync("espeak-ng", ["-v", "en-us", "-s", "140", "-w", path, sentence]);
    } catch {
      console.log("espeak-ng is not installed: the sample is the only speech");
      break;
    }
    await add(`clip ${index}`, path, "COMPLETED", 16, sentence);
  }
  await add("no sound", join(MEDIA, "video-only.mp4"), "SKIPPED", 6);
  const silence = join(folder, "silence.flac");
  const seconds = String(SILENCE_SECONDS);
  try {
    execFileSync("ffmpeg", [
      "-v",
      "error",
      "-f",
      "lavfi",
      "-i",
      "anullsrc=r=16000:cl=mono",
      "-t",
      seconds,
      silence,
    ]);
    // Quick to upload and slow to decode, so that faults hit running decoders.
    await add("silence", silence, "SKIPPED", 8);
  } catch {
    console.log("ffmpeg is not installed: the recording of silence is missing");
  }
  const garbage = join(folder, "garbage.mp4");
  await writeFile(garbage, "this is not a video");
  await add("not a video", garbage, "FAILED", 6);
  return recordings;
}

/** Uploads each recording once without faults. Its transcript is the reference for the campaign. */
export async function transcribeBaseline(
  service: SpawnedService,
  tenant: Tenant,
  recordings: Recording[],
): Promise<Map<string, Recording>> {
  const uploaded = new Map<string, Recording>();
  for (const recording of recordings) uploaded.set(await service.upload(tenant, recording.path), recording);
  for (const [videoId, recording] of uploaded) {
    const { status, files } = await service.untilEnded(tenant, videoId);
    if (status !== recording.expectedStatus) {
      throw new Error(
        `"${recording.name}" is ${status} instead of ${recording.expectedStatus} in the baseline run`,
      );
    }
    if (recording.spokenText === null) continue;
    recording.transcript = await readWords(files!.json.url);
    const missing = missingShare(recording.spokenText, recording.transcript);
    if (missing > MAX_MISSING_SHARE) {
      throw new Error(
        `the transcript of "${recording.name}" lacks ${Math.round(100 * missing)}% of the spoken words`,
      );
    }
  }
  return uploaded;
}

/** Retries if a request fails. */
export async function readWords(url: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const words = await fetch(url).then(
      async (response) => (response.ok ? ((await response.json()) as Word[]) : response.status),
      () => null,
    );
    if (Array.isArray(words)) return words.map(({ word }) => word).join(" ");
    if (attempt === 5) throw new Error(`the words cannot be read (${words ?? "no response"})`);
    await sleep(500);
  }
}

/** Reads an MP4 file and appends a `free` box, which decoders ignore. */
export async function readPadded(path: string, paddingBytes: number): Promise<Buffer> {
  const box = Buffer.alloc(paddingBytes);
  box.writeUInt32BE(paddingBytes, 0);
  box.write("free", 4, "latin1");
  return Buffer.concat([await readFile(path), box]);
}

/** Returns the share of spoken words that the recognized text does not contain, in any order. */
function missingShare(spokenText: string, recognized: string): number {
  const unmatched = plainWords(recognized);
  const spokenWords = plainWords(spokenText);
  const missing = spokenWords.filter((word) => {
    const index = unmatched.indexOf(word);
    if (index >= 0) unmatched.splice(index, 1);
    return index < 0;
  });
  return missing.length / spokenWords.length;
}

function plainWords(text: string): string[] {
  return text.toLowerCase().match(/[a-z']+/g) ?? [];
}
