import type { FestivalSpeaker, FestivalVoice } from "./festival.ts";
import type { FliteSpeaker, FliteVoice } from "./flite.ts";
import type { Clip, Speaker } from "./synthetic-speech.ts";

/**
 * Training, validation and test set. Constants were fitted to `calibration`. The results of `checked` influenced which
 * constants were chosen. The results of `fresh` set no constant, but they were known when the expected duration of tokens
 * was added to the alignment and when its weights were raised.
 */
export type VoiceSet = "calibration" | "checked" | "fresh";
export const VOICE_SETS: readonly VoiceSet[] = ["calibration", "checked", "fresh"];

/** Null for a synthesizer that is not installed; its voices are then omitted. */
export interface Speakers {
  espeak: Speaker;
  flite: FliteSpeaker | null;
  festival: FestivalSpeaker | null;
}

export interface Voice {
  name: string;
  say: (text: string) => Clip;
}

const CALIBRATION_VOICES: readonly [voice: string, wordsPerMinute: number][] = [
  ["en-us", 155],
  ["en", 150],
  ["en-us+f3", 160],
  ["en+m7", 150],
  ["en-us+m1", 170],
  ["en+f2", 145],
];

const CHECKED_VOICES: readonly [voice: string, wordsPerMinute: number][] = [
  ["en-gb-scotland", 150],
  ["en-029", 145],
  ["en-gb-x-rp", 165],
  ["en-us-nyc", 150],
  ["en-us+linda", 150],
  ["en+steph2", 155],
  ["en-us+m3", 135],
  ["en-us+john", 160],
  ["en-gb-x-gbclan", 150],
  ["en-gb-x-gbcwmd", 155],
  ["en-us+f4", 150],
  ["en+m6", 165],
  ["en-us+Andy", 145],
  ["en+Alicia", 150],
  ["en-us+michel", 155],
  ["en+anika", 160],
];
const CHECKED_FLITE_VOICES: readonly [voice: FliteVoice, stretch: number][] = [
  ["rms", 0.9],
  ["slt", 1],
  ["awb", 1.05],
];

/**
 * Selected by rule: every second variant of libespeak-ng 1.51 with a first name, in alphabetical order, excluding
 * numbered duplicates and the variants above. The accents and paces below are assigned to them in turn.
 */
const FRESH_VARIANTS = [
  "adam",
  "Andrea",
  "antonio",
  "benjamin",
  "caleb",
  "Denis",
  "ed",
  "Gene",
  "Henrique",
  "iven",
  "Lee",
  "Marco",
  "max",
  "miguel",
  "Nguyen",
  "pablo",
  "pedro",
  "rob",
  "sandro",
  "steph",
  "victor",
] as const;
const ACCENTS = [
  "en-us",
  "en",
  "en-us-nyc",
  "en-gb-x-rp",
  "en-gb-scotland",
  "en-029",
  "en-gb-x-gbclan",
  "en-gb-x-gbcwmd",
] as const;
const FRESH_WORDS_PER_MINUTE = [145, 150, 155, 160, 165] as const;
/** All other voices of flite and Debian's festival, except one that speaks only times of day. */
const FRESH_FLITE_VOICES: readonly FliteVoice[] = ["kal", "kal16"];
const FRESH_FESTIVAL_VOICES: readonly FestivalVoice[] = [
  "kal_diphone",
  "ked_diphone",
  "cmu_us_slt_arctic_hts",
];

export function voicesIn(set: VoiceSet, speakers: Speakers): Voice[] {
  const espeak = ([name, wordsPerMinute]: readonly [string, number]): Voice => ({
    name,
    say: (text) => speakers.espeak.say(name, wordsPerMinute, text),
  });
  if (set === "calibration") return CALIBRATION_VOICES.map(espeak);
  if (set === "checked")
    return [...CHECKED_VOICES.map(espeak), ...fliteVoices(speakers, CHECKED_FLITE_VOICES)];
  const { festival } = speakers;
  return [
    ...FRESH_VARIANTS.map((variant, index) =>
      espeak([
        `${ACCENTS[index % ACCENTS.length]}+${variant}`,
        FRESH_WORDS_PER_MINUTE[index % FRESH_WORDS_PER_MINUTE.length] as number,
      ]),
    ),
    ...fliteVoices(
      speakers,
      FRESH_FLITE_VOICES.map((name) => [name, 1]),
    ),
    ...(festival === null
      ? []
      : FRESH_FESTIVAL_VOICES.map(
          (name): Voice => ({ name: `festival ${name}`, say: (text) => festival.say(name, text) }),
        )),
  ];
}

function fliteVoices(
  { flite }: Speakers,
  voices: readonly (readonly [voice: FliteVoice, stretch: number])[],
): Voice[] {
  if (flite === null) return [];
  return voices.map(([name, stretch]) => ({
    name: `flite ${name}`,
    say: (text) => flite.say(name, stretch, text),
  }));
}
