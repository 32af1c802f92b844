import type { Engine } from "@subtext/speech/engines/engine";
import { compareWords, plainWords } from "../../../speech/test/support/spoken.ts";
import { seeded } from "../seeded.ts";
import { printTable } from "../table.ts";
import { amplified, atFullScale, drawRandom, joinClips } from "./synthetic-speech.ts";
import { ENGLISH_SENTENCES } from "./texts.ts";
import type { Transcriber } from "./transcriber.ts";
import { type Speakers, VOICE_SETS, type Voice, voicesIn } from "./voices.ts";

const COMMANDS = [
  "No.",
  "Yes.",
  "Six.",
  "Stop.",
  "Go.",
  "Left.",
  "Right.",
  "One.",
  "Two.",
  "Help.",
  "Open.",
  "Cancel.",
];
/** Variants of espeak-ng. */
const PHONATIONS: readonly [name: string, variants: readonly string[]][] = [
  ["creaky", ["croak"]],
  ["whispered", ["whisper", "whisperf"]],
];
const ACCENTS = ["en-us", "en", "en-gb-scotland"];
const SENTENCES_PER_VOICE = 4;
const SILENCE_SECONDS = 0.5;

interface ShortClip {
  samples: Float32Array;
  text: string;
}

/**
 * Measures creaky and whispered voices, and one-word commands. Each clip is recognized as generated, 40 dB quieter, at
 * full scale, and by the engine alone, without voice activity detection and without rejecting results.
 */
export async function measureUnusualSpeech(
  transcriber: Transcriber,
  engine: Engine,
  speakers: Speakers,
  quick: boolean,
): Promise<void> {
  const rows: string[][] = [];
  const add = async (name: string, clips: readonly ShortClip[]) => {
    const some = quick ? clips.filter((_, index) => index % 4 === 0) : clips;
    rows.push(...(await measure(transcriber, engine, name, some)));
  };
  for (const [name, variants] of PHONATIONS) await add(`${name} sentences`, sentences(speakers, variants));
  const voices = VOICE_SETS.flatMap((set) => voicesIn(set, speakers));
  const groups = Map.groupBy(voices, ({ name }) =>
    name.startsWith("flite") || name.startsWith("festival") ? "flite and festival" : "espeak-ng",
  );
  for (const [name, group] of groups) await add(`one-word commands, ${name}`, commands(group));
  printTable(
    "Unusual voices and commands, bundled engine",
    ["speech", "clips", "words", "recognized", "other words", "→ en", "→ und", "→ FAILED", "→ zxx"],
    rows,
  );
}

function sentences({ espeak }: Speakers, variants: readonly string[]): ShortClip[] {
  const random = seeded(11);
  return ACCENTS.flatMap((accent) =>
    variants.flatMap((variant) =>
      drawRandom(ENGLISH_SENTENCES.fresh, SENTENCES_PER_VOICE, random).map((text) =>
        shortClip(espeak.say(`${accent}+${variant}`, 150, text).samples, text),
      ),
    ),
  );
}

function commands(voices: readonly Voice[]): ShortClip[] {
  return voices.flatMap(({ say }, index) =>
    COMMANDS.filter((_, command) => command % 3 === index % 3).map((text) =>
      shortClip(say(text).samples, text),
    ),
  );
}

function shortClip(samples: Float32Array, text: string): ShortClip {
  return { text, samples: joinClips([SILENCE_SECONDS, { samples, words: [] }, SILENCE_SECONDS]).samples };
}

async function measure(
  transcriber: Transcriber,
  engine: Engine,
  name: string,
  clips: readonly ShortClip[],
): Promise<string[][]> {
  const { signal } = new AbortController();
  const transcribed = async (samples: Float32Array) => {
    const { words, language, failure } = await transcriber.recognize(samples);
    return { words, outcome: failure === null ? language : "FAILED" };
  };
  const alternatives: [label: string, recognize: typeof transcribed][] = [
    [name, transcribed],
    ["  … 40 dB quieter", (samples) => transcribed(amplified(samples, -40))],
    ["  … at full scale", (samples) => transcribed(atFullScale(samples))],
    [
      "  … engine alone",
      async (samples) => {
        const [result] = await engine.recognize([{ samples, start: 0 }], { signal });
        return { words: result?.words ?? [], outcome: "" };
      },
    ],
  ];
  const rows: string[][] = [];
  for (const [label, recognize] of alternatives) {
    const outcomes: string[] = [];
    let spokenWords = 0;
    let recognized = 0;
    let others = 0;
    for (const { samples, text } of clips) {
      const { words, outcome } = await recognize(samples);
      const spoken = plainWords(text);
      const found = words.flatMap(({ word }) => plainWords(word));
      const matching = compareWords(spoken, found).agreeing.length;
      outcomes.push(outcome);
      spokenWords += spoken.length;
      recognized += matching;
      others += found.length - matching;
    }
    const counts = ["en", "und", "FAILED", "zxx"].map((outcome) =>
      outcomes.includes("") ? "" : String(outcomes.filter((value) => value === outcome).length),
    );
    rows.push([
      label,
      String(clips.length),
      String(spokenWords),
      String(recognized),
      String(others),
      ...counts,
    ]);
  }
  return rows;
}
