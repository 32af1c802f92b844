import { type Clip, drawn, joinClips, over, type Speaker, seeded } from "./accuracy-made-speech.ts";
import { music, pinkNoise, whiteNoise } from "./accuracy-sounds.ts";
import { ENGLISH_SENTENCES, type OtherLanguage } from "./accuracy-texts.ts";

/** Voices of libespeak-ng by which constants may be chosen, words a minute beside them. */
const CALIBRATION_VOICES: readonly [voice: string, wordsPerMinute: number][] = [
  ["en-us", 155],
  ["en", 150],
  ["en-us+f3", 160],
  ["en+m7", 150],
  ["en-us+m1", 170],
  ["en+f2", 145],
];

/** Voices by which nothing was chosen: other variants, accents and paces. */
const HELD_OUT_VOICES: readonly [voice: string, wordsPerMinute: number][] = [
  ["en-gb-scotland", 150],
  ["en-029", 145],
  ["en-gb-x-rp", 165],
  ["en-us-nyc", 150],
  ["en-us+linda", 150],
  ["en+steph2", 155],
  ["en-us+m3", 135],
  ["en-us+john", 160],
];

export type Condition = "clean" | "noise 20 dB" | "noise 10 dB" | "music 15 dB";
export const CONDITIONS: readonly Condition[] = ["clean", "noise 20 dB", "noise 10 dB", "music 15 dB"];

export interface EnglishClip extends Clip {
  voice: string;
  condition: Condition;
  heldOut: boolean;
}

/**
 * English with pauses of 0.3 to 2.5 s between its three sentences, each clip in each condition.
 * @param perVoice Clips of each of the 14 voices.
 */
export function* englishClips(speaker: Speaker, perVoice: number): Generator<EnglishClip> {
  const noises = [pinkNoise(30), whiteNoise(30)];
  const melody = music(30);
  for (const [heldOut, voices] of [
    [false, CALIBRATION_VOICES],
    [true, HELD_OUT_VOICES],
  ] as const) {
    for (const [index, [voice, wordsPerMinute]] of voices.entries()) {
      const random = seeded(1000 * Number(heldOut) + index);
      for (let count = 0; count < perVoice; count++) {
        const sentences = drawn(ENGLISH_SENTENCES, 3, random).map((text) =>
          speaker.say(voice, wordsPerMinute, text),
        );
        const clip = joinClips([
          0.3 + random(),
          ...sentences.flatMap((sentence) => [sentence, 0.3 + 2.2 * random() ** 2]),
        ]);
        const noise = noises[count % noises.length] as Float32Array;
        for (const condition of CONDITIONS) {
          yield { ...inCondition(clip, condition, noise, melody), voice, condition, heldOut };
        }
      }
    }
  }
}

function inCondition(clip: Clip, condition: Condition, noise: Float32Array, melody: Float32Array): Clip {
  if (condition === "noise 20 dB") return over(clip, noise, 20);
  if (condition === "noise 10 dB") return over(clip, noise, 10);
  if (condition === "music 15 dB") return over(clip, melody, 15);
  return clip;
}

/** Ten seconds or more of another language, different sentences and numbers in each clip. */
export function* otherClips(speaker: Speaker, language: OtherLanguage, count: number): Generator<Clip> {
  const random = seeded(language.code.charCodeAt(0) * 256 + language.code.charCodeAt(1));
  const noise = pinkNoise(30);
  const variants = ["", "+f3", "+m1", "+m3", "+f2"];
  for (let index = 0; index < count; index++) {
    const voice = `${language.voice}${variants[index % variants.length]}`;
    const numbers = Array.from({ length: 3 }, () => Math.floor(random() * 2000)).join(", ");
    const clip = joinClips([
      0.4,
      ...[...drawn(language.sentences, 4, random), `${numbers}.`].flatMap((text) => [
        speaker.say(voice, 145 + 10 * (index % 4), text),
        0.2 + 0.4 * random(),
      ]),
    ]);
    yield index % 3 === 2 ? over(clip, noise, 20) : clip;
  }
}
