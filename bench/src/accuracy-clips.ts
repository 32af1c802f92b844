import type { FliteSpeaker, FliteVoice } from "./accuracy-flite.ts";
import { type Clip, drawn, joinClips, over, type Speaker, seeded } from "./accuracy-made-speech.ts";
import { music, pinkNoise, whiteNoise } from "./accuracy-sounds.ts";
import { ENGLISH_SENTENCES, FRESH_ENGLISH_SENTENCES, type OtherLanguage } from "./accuracy-texts.ts";

/** Voices of libespeak-ng by which constants may be chosen, words a minute beside them. */
const CALIBRATION_VOICES: readonly [voice: string, wordsPerMinute: number][] = [
  ["en-us", 155],
  ["en", 150],
  ["en-us+f3", 160],
  ["en+m7", 150],
  ["en-us+m1", 170],
  ["en+f2", 145],
];

/** Other variants, accents and paces: nothing was fitted to them, but limits and padding were chosen in their sight. */
const CHECKED_VOICES: readonly [voice: string, wordsPerMinute: number][] = [
  ["en-gb-scotland", 150],
  ["en-029", 145],
  ["en-gb-x-rp", 165],
  ["en-us-nyc", 150],
  ["en-us+linda", 150],
  ["en+steph2", 155],
  ["en-us+m3", 135],
  ["en-us+john", 160],
];

/**
 * Voices and sentences that nothing was chosen by or in sight of: variants of libespeak-ng that occur nowhere
 * else here, and (where flite is installed) voices that were learnt from recordings of people.
 */
const FRESH_VOICES: readonly [voice: string, wordsPerMinute: number][] = [
  ["en-gb-x-gbclan", 150],
  ["en-gb-x-gbcwmd", 155],
  ["en-us+f4", 150],
  ["en+m6", 165],
  ["en-us+Andy", 145],
  ["en+Alicia", 150],
  ["en-us+michel", 155],
  ["en+anika", 160],
];
const FRESH_FLITE_VOICES: readonly [voice: FliteVoice, stretch: number][] = [
  ["rms", 0.9],
  ["slt", 1],
  ["awb", 1.05],
];

export type VoiceSet = "calibration" | "checked" | "fresh";
export const VOICE_SETS: readonly VoiceSet[] = ["calibration", "checked", "fresh"];

export type Condition = "clean" | "noise 20 dB" | "noise 10 dB" | "music 15 dB";
export const CONDITIONS: readonly Condition[] = ["clean", "noise 20 dB", "noise 10 dB", "music 15 dB"];

export interface EnglishClip extends Clip {
  voice: string;
  condition: Condition;
}

/**
 * English with pauses of 0.3 to 2.5 s between its three sentences, each clip in each condition.
 * @param perVoice Clips of each voice: 6 for calibration, 8 checked, 8 fresh and 3 of flite.
 */
export function* englishClips(
  speaker: Speaker,
  set: VoiceSet,
  perVoice: number,
  flite: FliteSpeaker | null,
): Generator<EnglishClip> {
  const noises = [pinkNoise(30), whiteNoise(30)];
  const melody = music(30);
  const sentences = set === "fresh" ? FRESH_ENGLISH_SENTENCES : ENGLISH_SENTENCES;
  for (const [index, { name, say }] of voicesOf(set, speaker, flite).entries()) {
    const random = seeded(1000 * VOICE_SETS.indexOf(set) + index);
    for (let count = 0; count < perVoice; count++) {
      const clip = joinClips([
        0.3 + random(),
        ...drawn(sentences, 3, random).flatMap((text) => [say(text), 0.3 + 2.2 * random() ** 2]),
      ]);
      const noise = noises[count % noises.length] as Float32Array;
      for (const condition of CONDITIONS) {
        yield { ...inCondition(clip, condition, noise, melody), voice: name, condition };
      }
    }
  }
}

interface Voice {
  name: string;
  say: (text: string) => Clip;
}

function voicesOf(set: VoiceSet, speaker: Speaker, flite: FliteSpeaker | null): Voice[] {
  const voices = { calibration: CALIBRATION_VOICES, checked: CHECKED_VOICES, fresh: FRESH_VOICES }[set].map(
    ([name, wordsPerMinute]): Voice => ({ name, say: (text) => speaker.say(name, wordsPerMinute, text) }),
  );
  if (set !== "fresh" || flite === null) return voices;
  const learnt = FRESH_FLITE_VOICES.map(
    ([name, stretch]): Voice => ({ name: `flite ${name}`, say: (text) => flite.say(name, stretch, text) }),
  );
  return [...voices, ...learnt];
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
