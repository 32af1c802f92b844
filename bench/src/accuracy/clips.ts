import { seeded } from "../seeded.ts";
import { music, pinkNoise, whiteNoise } from "./sounds.ts";
import {
  addBackground,
  type Clip,
  drawRandom,
  joinClips,
  SAMPLE_RATE,
  type Speaker,
} from "./synthetic-speech.ts";
import { ENGLISH_SENTENCES, type OtherLanguage } from "./texts.ts";
import { type Speakers, VOICE_SETS, type VoiceSet, voicesIn } from "./voices.ts";

export type Condition = "clean" | "noise 20 dB" | "noise 10 dB" | "music 15 dB";
export const CONDITIONS: readonly Condition[] = ["clean", "noise 20 dB", "noise 10 dB", "music 15 dB"];

export interface EnglishClip extends Clip {
  voice: string;
  condition: Condition;
}

const MIN_SENTENCES = 3;
/** Excludes pauses. */
const MIN_SPEECH_SECONDS = 10;

/**
 * Yields each clip once per condition. The pauses between sentences take 0.3 to 2.5 s.
 * @param perVoice number of clips per voice
 */
export function* englishClips(speakers: Speakers, set: VoiceSet, perVoice: number): Generator<EnglishClip> {
  const noises = [pinkNoise(30), whiteNoise(30)];
  const melody = music(30);
  const sentences = ENGLISH_SENTENCES[set];
  for (const [index, { name, say }] of voicesIn(set, speakers).entries()) {
    const random = seeded(1000 * VOICE_SETS.indexOf(set) + index);
    for (let count = 0; count < perVoice; count++) {
      const parts: (Clip | number)[] = [0.3 + random()];
      let seconds = 0;
      for (const [said, text] of drawRandom(sentences, sentences.length, random).entries()) {
        if (said >= MIN_SENTENCES && seconds >= MIN_SPEECH_SECONDS) break;
        const sentence = say(text);
        seconds += sentence.samples.length / SAMPLE_RATE;
        parts.push(sentence, 0.3 + 2.2 * random() ** 2);
      }
      const clip = joinClips(parts);
      const noise = noises[count % noises.length] as Float32Array;
      for (const condition of CONDITIONS) {
        yield { ...inCondition(clip, condition, noise, melody), voice: name, condition };
      }
    }
  }
}

function inCondition(clip: Clip, condition: Condition, noise: Float32Array, melody: Float32Array): Clip {
  if (condition === "noise 20 dB") return addBackground(clip, noise, 20);
  if (condition === "noise 10 dB") return addBackground(clip, noise, 10);
  if (condition === "music 15 dB") return addBackground(clip, melody, 15);
  return clip;
}

/** Yields clips of at least ten seconds in another language, each with its own random sentences and numbers. */
export function* otherClips(speaker: Speaker, language: OtherLanguage, count: number): Generator<Clip> {
  const random = seeded(language.code.charCodeAt(0) * 256 + language.code.charCodeAt(1));
  const noise = pinkNoise(30);
  const variants = ["", "+f3", "+m1", "+m3", "+f2"];
  for (let index = 0; index < count; index++) {
    const voice = `${language.voice}${variants[index % variants.length]}`;
    const numbers = Array.from({ length: 3 }, () => Math.floor(random() * 2000)).join(", ");
    const clip = joinClips([
      0.4,
      ...[...drawRandom(language.sentences, 4, random), `${numbers}.`].flatMap((text) => [
        speaker.say(voice, 145 + 10 * (index % 4), text),
        0.2 + 0.4 * random(),
      ]),
    ]);
    yield index % 3 === 2 ? addBackground(clip, noise, 20) : clip;
  }
}
