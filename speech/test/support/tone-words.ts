/**
 * Synthetic speech: each word is a tone of its own frequency, so that a few lines of code can recognize the words
 * and their times.
 */

const RATE = 16_000;
const WINDOW = 320;
const FIRST_HERTZ = 400;
const HERTZ_BETWEEN = 200;

export const ENGLISH_WORDS = [
  "The",
  "weather,",
  "today:",
  "fine!",
  "Well-known",
  "don't",
  "it’s",
  "3.5",
] as const;
export const SPANISH_WORDS = ["¿Qué", "tiempo", "hace", "mañana?", "Llueve,", "señor."] as const;
export const JAPANESE_WORDS = ["今日", "は", "天気。"] as const;
const VOCABULARY: readonly string[] = [...ENGLISH_WORDS, ...SPANISH_WORDS, ...JAPANESE_WORDS];

export interface ToneWord {
  word: string;
  /** Seconds of the audio. */
  start: number;
  end: number;
}

/** Returns audio in which each word is a tone. Times must be multiples of 20 ms. */
export function tones(words: readonly ToneWord[], seconds: number): Float32Array {
  const samples = new Float32Array(Math.round(seconds * RATE));
  for (const { word, start, end } of words) {
    const hertz = FIRST_HERTZ + HERTZ_BETWEEN * VOCABULARY.indexOf(word);
    for (let at = Math.round(start * RATE); at < Math.round(end * RATE); at++) {
      samples[at] = 0.5 * Math.sin((2 * Math.PI * hertz * at) / RATE);
    }
  }
  return samples;
}

/** Recognizes the words of the audio, with times in multiples of 20 ms. */
export function wordsOfTones(samples: Float32Array): ToneWord[] {
  const words: ToneWord[] = [];
  for (let at = 0; at + WINDOW <= samples.length; at += WINDOW) {
    const word = toneOf(samples.subarray(at, at + WINDOW));
    const [start, end] = [at / RATE, (at + WINDOW) / RATE];
    const last = words.at(-1);
    if (last?.word === word && last?.end === start) last.end = end;
    else if (word !== undefined) words.push({ word, start, end });
  }
  return words;
}

/** One window of each word's tone as cosine and sine. */
const WAVES = VOCABULARY.map((_, index) => {
  const turn = (2 * Math.PI * (FIRST_HERTZ + HERTZ_BETWEEN * index)) / RATE;
  const wave = (shape: (angle: number) => number) =>
    Float64Array.from({ length: WINDOW }, (_, at) => shape(turn * at));
  return [wave(Math.cos), wave(Math.sin)] as const;
});

/** Returns the word whose frequency is strong in the window; undefined for silence. */
function toneOf(window: Float32Array): string | undefined {
  if (window.every((sample) => Math.abs(sample) < 0.01)) return undefined;
  const strength = (wave: Float64Array) => window.reduce((sum, sample, at) => sum + sample * wave[at]!, 0);
  const found = WAVES.findIndex(
    ([cosine, sine]) => Math.hypot(strength(cosine), strength(sine)) > 0.2 * (WINDOW / 2),
  );
  return VOCABULARY[found];
}

/** @throws Error unless the file is 16-bit PCM, 16 kHz, mono */
export function wavSamples(file: Buffer): Float32Array {
  const isPlain =
    file.toString("latin1", 0, 4) === "RIFF" &&
    file.readUInt32LE(4) === file.length - 8 &&
    file.toString("latin1", 8, 16) === "WAVEfmt " &&
    [1, 1].every((value, index) => file.readUInt16LE(20 + 2 * index) === value) &&
    file.readUInt32LE(24) === RATE &&
    file.readUInt16LE(34) === 16 &&
    file.readUInt32LE(40) === file.length - 44;
  if (!isPlain) throw new Error("The file is not a WAV file with 16-bit PCM, 16 kHz, mono.");
  const samples = file.subarray(44);
  return Float32Array.from(
    { length: samples.length / 2 },
    (_, index) => samples.readInt16LE(2 * index) / 32_768,
  );
}
