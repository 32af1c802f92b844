import { join } from "node:path";
import { openWhisper } from "@subtext/speech/engines/whisper/whisper";
import {
  HELD_OUT_VARIANTS,
  type Language,
  TRAINED_SENTENCES,
  VOICES,
} from "../../../speech/test/fixtures/languages/held-out.ts";
import { seeded } from "../seeded.ts";
import { printTable } from "../table.ts";
import { Confusion, TALLY_HEAD, Tally } from "./scores.ts";
import { pinkNoise } from "./sounds.ts";
import { addBackground, joinClips, type Speaker } from "./synthetic-speech.ts";
import { openTranscriber } from "./transcriber.ts";

const MODEL_FOLDER = join(import.meta.dirname, "../../../speech/test/tiny-whisper/model");

/**
 * Measures the Whisper engine with the tiny model that its tests use. The model was trained on the same sentences, but
 * not on these voices.
 */
export async function measureWhisper(speaker: Speaker, folder: string, quick: boolean): Promise<void> {
  const transcriber = await openTranscriber(folder, {
    bundled: null,
    multilingual: await openWhisper({ folder: MODEL_FOLDER, threads: 1 }),
    bundledTakesEnglish: false,
    remedy: "",
  });
  const noise = pinkNoise(20);
  const confusion = new Confusion();
  const tallies = new Map<string, Tally>();
  const random = seeded(7);
  try {
    for (const language of Object.keys(VOICES) as Language[]) {
      const voices = VOICES[language];
      for (const [index, text] of TRAINED_SENTENCES[language].entries()) {
        // The step is odd, because voices alternate: an even one would select only the first.
        if (quick && index % 3 !== 0) continue;
        const variant = HELD_OUT_VARIANTS[index % HELD_OUT_VARIANTS.length];
        const voice = `${voices[index % voices.length]}+${variant}`;
        const wordsPerMinute = 125 + Math.floor(55 * random());
        const clip = joinClips([0.2 + random(), speaker.say(voice, wordsPerMinute, text), 0.5]);
        for (const [condition, mixedClip] of [
          ["clean", clip],
          ["noise 15 dB", addBackground(clip, noise, 15)],
        ] as const) {
          const result = await transcriber.recognize(mixedClip.samples);
          const tally = tallies.get(condition) ?? new Tally();
          tallies.set(condition, tally);
          tally.add(clip.words, result.words);
          confusion.add(language, result.language);
        }
      }
    }
  } finally {
    await transcriber.close();
  }
  printTable(
    "Whisper engine, tiny Whisper model, held-out voices (target: WER ≤ 0.01, start p90 ≤ 25 ms)",
    ["speech", ...TALLY_HEAD],
    [...tallies].map(([name, tally]) => [name, ...tally.row()]),
  );
  const { head, rows } = confusion.table();
  printTable("Detected language, Whisper engine (target: 100%)", head, rows);
}
