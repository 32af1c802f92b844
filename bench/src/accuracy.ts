import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readMoonshine } from "@subtext/speech/engines/moonshine/model";
import { openMoonshine } from "@subtext/speech/engines/moonshine/moonshine";
import { CONDITIONS, englishClips, otherClips } from "./accuracy/clips.ts";
import { LanguageDecisions } from "./accuracy/decisions.ts";
import { FestivalSpeaker, hasFestival } from "./accuracy/festival.ts";
import { FliteSpeaker, hasFlite } from "./accuracy/flite.ts";
import { TALLY_HEAD, Tally } from "./accuracy/scores.ts";
import { nonSpeech } from "./accuracy/sounds.ts";
import { Speaker } from "./accuracy/synthetic-speech.ts";
import { alignedRecordings } from "./accuracy/text-grid.ts";
import { OTHER_LANGUAGES } from "./accuracy/texts.ts";
import { openTranscriber, type RecognizedSpeech } from "./accuracy/transcriber.ts";
import { type Speakers, VOICE_SETS, type VoiceSet } from "./accuracy/voices.ts";
import { measureWhisper } from "./accuracy/whisper.ts";
import { printTable } from "./table.ts";

/**
 * Measures the accuracy of transcripts: words, word times, hallucinations and detected languages. Synthesizers that
 * report word times generate the speech; sox generates noise and music. Requires cc, libespeak-ng-dev, sox and ffmpeg;
 * flite and festival add voices. The results are deterministic. A run takes about 20 minutes, or a few minutes with
 * `--quick`.
 */
const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    /** Folder with real recordings: jfk.wav, lucier.mp3 and .txt, laugh1.mp3, japanese.mp3, …, and TextGrid files. */
    audio: { type: "string", default: join(import.meta.dirname, "../../../shared/audio") },
    parts: { type: "string", default: "speech,sounds,languages,recordings,whisper" },
  },
});
const JFK =
  "and so my fellow americans ask not what your country can do for you ask what you can do for your country";
/** Fresh voices get the most clips, because only their results predict the accuracy in practice. */
const CLIPS_PER_VOICE: Record<VoiceSet, number> = { calibration: 3, checked: 3, fresh: 4 };
const parts = new Set(values.parts.split(","));
const speaker = new Speaker(join(tmpdir(), "subtext-accuracy"));
const folder = mkdtempSync(join(tmpdir(), "subtext-accuracy-run-"));
const transcriber = await openTranscriber(folder, {
  bundled: await openMoonshine({ model: await readMoonshine(), threads: 1 }),
  multilingual: null,
  bundledTakesEnglish: true,
  remedy: "",
});
const decisions = new LanguageDecisions();
try {
  if (parts.has("speech")) await measureSpeech();
  if (parts.has("sounds")) await measureSounds();
  if (parts.has("languages")) await measureLanguages();
  if (parts.has("speech") || parts.has("languages")) decisions.print();
  if (parts.has("recordings")) await measureRecordings();
  if (parts.has("whisper")) await measureWhisper(speaker, folder, values.quick);
} finally {
  await transcriber.close();
  rmSync(folder, { recursive: true });
}

async function measureSpeech(): Promise<void> {
  const tallies = new Map<string, Tally>();
  const tally = (name: string) => tallies.get(name) ?? tallies.set(name, new Tally()).get(name)!;
  const speakers: Speakers = {
    espeak: speaker,
    flite: hasFlite() ? new FliteSpeaker() : null,
    festival: hasFestival() ? new FestivalSpeaker() : null,
  };
  for (const set of VOICE_SETS) {
    for (const clip of englishClips(speakers, set, values.quick ? 1 : CLIPS_PER_VOICE[set])) {
      const { words, language } = await transcriber.recognize(clip.samples);
      tally(`${set} voices, ${clip.condition}`).add(clip.words, words);
      tally(`all ${set} voices`).add(clip.words, words);
      decisions.addEnglish(set, clip.voice, clip.condition, language);
    }
  }
  const all = new Tally();
  for (const set of VOICE_SETS) all.merge(tally(`all ${set} voices`));
  printTable(
    "English, bundled engine (target: start median ≤ 30 ms, p90 ≤ 90 ms)",
    ["speech", ...TALLY_HEAD],
    [
      ...VOICE_SETS.flatMap((set) =>
        [...CONDITIONS.map((condition) => `${set} voices, ${condition}`), `all ${set} voices`].map((name) => [
          name,
          ...tally(name).row(),
        ]),
      ),
      ["all", ...all.row()],
    ],
  );
}

async function measureSounds(): Promise<void> {
  const seconds = values.quick ? 15 : 60;
  const laugh = recording("laugh1.mp3");
  const laughSamples = laugh === null ? null : await transcriber.decode(laugh);
  let words = 0;
  let minutes = 0;
  const rows: string[][] = [];
  for (const [name, samples] of nonSpeech(speaker, seconds, laughSamples)) {
    const result = await transcriber.recognize(samples);
    words += result.words.length;
    minutes += samples.length / 16_000 / 60;
    if (result.words.length > 0 || !["zxx", "skipped"].includes(result.language)) {
      rows.push([
        name,
        result.language,
        String(result.words.length),
        result.words
          .map(({ word }) => word)
          .join(" ")
          .slice(0, 60),
      ]);
    }
  }
  printTable(
    "Audio without speech, bundled engine (target: 0 words)",
    ["sound", "language", "words", "text"],
    [
      ...rows,
      [`all ${minutes.toFixed(1)} minutes`, "", String(words), `${(words / minutes).toFixed(2)} per minute`],
    ],
  );
}

async function measureLanguages(): Promise<void> {
  const perLanguage = values.quick ? 2 : 10;
  for (const set of VOICE_SETS) {
    for (const language of OTHER_LANGUAGES[set]) {
      for (const clip of otherClips(speaker, language, perLanguage)) {
        decisions.addOther(set, language.code, (await transcriber.recognize(clip.samples)).language);
      }
    }
  }
}

async function measureRecordings(): Promise<void> {
  const rows: string[][] = [];
  for (const [name, text] of [
    ["jfk.wav", JFK],
    ["lucier.mp3", null],
  ] as const) {
    const path = recording(name);
    if (path === null) continue;
    const spokenText = text ?? readFileSync(path.replace(/\.\w+$/, ".txt"), "utf8");
    const spoken = spokenText.match(/\S+/g)!.map((word) => ({ word, start: null, end: null }));
    const addRow = (label: string, { words, language }: RecognizedSpeech) => {
      const tally = new Tally();
      tally.add(spoken, words);
      rows.push([label, language, String(tally.words), tally.wordErrorRate.toFixed(3)]);
    };
    addRow(name, await transcriber.transcribeFile(path));
    for (const decibels of values.quick ? [] : [20, 10, 5]) {
      const noisy = await transcriber.withNoise(path, decibels);
      addRow(`${name}, noise ${decibels} dB`, await transcriber.recognize(noisy));
    }
  }
  for (const name of ["japanese.mp3", "smartphone.mp3", "bonjour_vous_allez_bien.mp3"]) {
    const path = recording(name);
    if (path === null) continue;
    const { words, language } = await transcriber.transcribeFile(path);
    rows.push([name, language, "–", `${words.length} words`]);
  }
  if (rows.length > 0)
    printTable(
      "Recordings, bundled engine (target: jfk 0, lucier ≤ 0.08)",
      ["recording", "language", "words", "WER"],
      rows,
    );
  await measureAlignedRecordings();
}

async function measureAlignedRecordings(): Promise<void> {
  const aligned = existsSync(values.audio) ? alignedRecordings(values.audio) : [];
  const all = new Tally();
  const rows: string[][] = [];
  for (const { name, path, words } of aligned) {
    const tally = new Tally();
    tally.add(words, (await transcriber.transcribeFile(path)).words);
    all.merge(tally);
    rows.push([name, ...tally.row()]);
  }
  if (rows.length > 1) rows.push(["all", ...all.row()]);
  if (rows.length > 0)
    printTable(
      "Real speech with aligned word boundaries, bundled engine (target: start median ≤ 35 ms, p90 ≤ 100 ms)",
      ["speech", ...TALLY_HEAD],
      rows,
    );
}

function recording(name: string): string | null {
  const path = join(values.audio, name);
  return existsSync(path) ? path : null;
}
