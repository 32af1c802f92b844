import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readMoonshine } from "@subtext/speech/engines/moonshine/model";
import { openMoonshine } from "@subtext/speech/engines/moonshine/moonshine";
import { CONDITIONS, englishClips, otherClips } from "./accuracy/clips.ts";
import { LanguageDecisions } from "./accuracy/decisions.ts";
import { FestivalSpeaker, hasFestival } from "./accuracy/festival.ts";
import { FliteSpeaker, hasFlite } from "./accuracy/flite.ts";
import { measureRealRecordings, measureRecordings } from "./accuracy/recordings.ts";
import { TALLY_HEAD, Tally } from "./accuracy/scores.ts";
import { nonSpeech } from "./accuracy/sounds.ts";
import { amplified, atFullScale, Speaker } from "./accuracy/synthetic-speech.ts";
import { OTHER_LANGUAGES } from "./accuracy/texts.ts";
import { openTranscriber } from "./accuracy/transcriber.ts";
import { measureUnusualSpeech } from "./accuracy/unusual-speech.ts";
import { type Speakers, VOICE_SETS, type VoiceSet } from "./accuracy/voices.ts";
import { measureWhisper } from "./accuracy/whisper.ts";
import { readFigures } from "./figures.ts";
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
    parts: { type: "string", default: "speech,sounds,languages,unusual,recordings,whisper" },
    /** Saved figures of an earlier run, e.g. of another commit; by default, those in docs/figures. */
    previous: { type: "string" },
  },
});
/** Fresh voices get the most clips, because only their results predict the accuracy in practice. */
const CLIPS_PER_VOICE: Record<VoiceSet, number> = { calibration: 3, checked: 3, fresh: 4 };
/** Peak levels of the sounds in dBFS; null for the level at which they were generated. */
const SOUND_LEVELS: readonly (number | null)[] = [null, 0, -30, -50];
// Read before this run replaces them.
const previous = readFigures("recordings", values.previous);
const parts = new Set(values.parts.split(","));
if (parts.has("recordings") && !existsSync(values.audio)) {
  console.error(
    `The folder of recordings ${values.audio} does not exist. Give another one with --audio, or leave out \`recordings\` in --parts.`,
  );
  process.exit(1);
}
const speaker = new Speaker(join(tmpdir(), "subtext-accuracy"));
const folder = mkdtempSync(join(tmpdir(), "subtext-accuracy-run-"));
const engine = await openMoonshine({ model: await readMoonshine(), threads: 1 });
const speakers: Speakers = {
  espeak: speaker,
  flite: hasFlite() ? new FliteSpeaker() : null,
  festival: hasFestival() ? new FestivalSpeaker() : null,
};
const transcriber = await openTranscriber(folder, {
  bundled: engine,
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
  if (parts.has("unusual")) await measureUnusualSpeech(transcriber, engine, speakers, values.quick);
  if (parts.has("recordings")) {
    await measureRecordings(transcriber, values.audio, values.quick);
    await measureRealRecordings(transcriber, values.audio, previous.tables);
  }
  if (parts.has("whisper")) await measureWhisper(speaker, folder, values.quick);
} finally {
  await transcriber.close();
  rmSync(folder, { recursive: true });
}

async function measureSpeech(): Promise<void> {
  const tallies = new Map<string, Tally>();
  const tally = (name: string) => tallies.get(name) ?? tallies.set(name, new Tally()).get(name)!;
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
  const sounds = [...nonSpeech(speaker, seconds, laugh === null ? null : await transcriber.decode(laugh))];
  const rows: string[][] = [];
  const totals: string[][] = [];
  for (const level of SOUND_LEVELS) {
    const label = level === null ? "as generated" : `peaks at ${level} dBFS`;
    let words = 0;
    let minutes = 0;
    for (const [name, original] of sounds) {
      const samples = level === null ? original : amplified(atFullScale(original), level);
      const result = await transcriber.recognize(samples);
      words += result.words.length;
      minutes += samples.length / 16_000 / 60;
      if (result.words.length > 0 || !["zxx", "skipped"].includes(result.language)) {
        const text = result.words.map(({ word }) => word).join(" ");
        rows.push([`${name}, ${label}`, result.language, String(result.words.length), text.slice(0, 60)]);
      }
    }
    totals.push([
      `all ${minutes.toFixed(1)} minutes, ${label}`,
      "",
      String(words),
      `${(words / minutes).toFixed(2)} per minute`,
    ]);
  }
  printTable(
    "Audio without speech, bundled engine (target: 0 words)",
    ["sound", "language", "words", "text"],
    [...rows, ...totals],
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

function recording(name: string): string | null {
  const path = join(values.audio, name);
  return existsSync(path) ? path : null;
}
