import { execFileSync } from "node:child_process";
import { seeded } from "../seeded.ts";
import { decodePcm, SAMPLE_RATE, type Speaker } from "./synthetic-speech.ts";
import { ENGLISH_SENTENCES } from "./texts.ts";

const RAW = ["-r", String(SAMPLE_RATE), "-c", "1", "-b", "16", "-e", "signed-integer", "-t", "raw"];

/**
 * Generates a sound with sox, which `-R` makes deterministic.
 * @param effects arguments of sox's `synth`, followed by other effects
 */
function synth(seconds: number, effects: string): Float32Array {
  const options = ["-R", "-V1", "-n", ...RAW, "-", "synth", String(seconds), ...effects.split(" ")];
  return decodePcm(execFileSync("sox", options, { maxBuffer: 1 << 28 }));
}

function applySox(samples: Float32Array, effects: string): Float32Array {
  const input = Buffer.alloc(2 * samples.length);
  for (const [index, sample] of samples.entries()) {
    input.writeInt16LE(Math.round(32_767 * Math.max(-1, Math.min(1, sample))), 2 * index);
  }
  const sound = execFileSync("sox", ["-R", "-V1", ...RAW, "-", ...RAW, "-", ...effects.split(" ")], {
    input,
    maxBuffer: 1 << 28,
  });
  return decodePcm(sound);
}

export function pinkNoise(seconds: number): Float32Array {
  return synth(seconds, "pinknoise gain -12");
}

export function whiteNoise(seconds: number): Float32Array {
  return synth(seconds, "whitenoise gain -14");
}

const SCALE = [0, 2, 4, 5, 7, 9, 11, 12];

function melody(seconds: number, beatsPerMinute: number, waveform: string, octave: number, seed: number) {
  const random = seeded(seed);
  const samples = new Float32Array(seconds * SAMPLE_RATE);
  const notes = new Map<number, Float32Array>();
  const beat = 60 / beatsPerMinute;
  for (let at = 0; at < seconds; ) {
    const length = beat * ([0.5, 1, 1, 2][Math.floor(4 * random())] as number);
    const step = SCALE[Math.floor(SCALE.length * random())] as number;
    const key = step * 100 + length;
    const frequency = 261.63 * 2 ** (octave + step / 12);
    const note =
      notes.get(key) ??
      synth(length, `${waveform} ${frequency.toFixed(2)} fade q 0.02 ${length} 0.08 gain -6`);
    notes.set(key, note);
    add(samples, note, Math.round(at * SAMPLE_RATE), 1);
    at += length;
  }
  return samples;
}

function add(target: Float32Array, sound: Float32Array, at: number, gain: number): void {
  const end = Math.min(sound.length, target.length - at);
  for (let index = 0; index < end; index++) {
    target[at + index] = (target[at + index] as number) + gain * (sound[index] as number);
  }
}

function mix(...parts: readonly Float32Array[]): Float32Array {
  const samples = new Float32Array(Math.max(...parts.map(({ length }) => length)));
  for (const part of parts) add(samples, part, 0, 1 / Math.sqrt(parts.length));
  return samples;
}

function looped(sound: Float32Array, seconds: number): Float32Array {
  return Float32Array.from({ length: seconds * SAMPLE_RATE }, (_, i) => sound[i % sound.length] as number);
}

function drums(seconds: number, beatsPerMinute: number): Float32Array {
  const samples = new Float32Array(seconds * SAMPLE_RATE);
  const bass = synth(0.25, "sine 90-45 fade l 0.002 0.25 0.2");
  const snare = synth(0.18, "whitenoise highpass 900 fade l 0.001 0.18 0.16 gain -6");
  const hat = synth(0.05, "whitenoise highpass 6000 fade l 0.001 0.05 0.04 gain -10");
  const beat = (60 / beatsPerMinute) * SAMPLE_RATE;
  for (let count = 0; count * beat < samples.length; count++) {
    add(samples, count % 2 === 0 ? bass : snare, Math.round(count * beat), 0.6);
    add(samples, hat, Math.round(count * beat), 0.6);
    add(samples, hat, Math.min(samples.length, Math.round((count + 0.5) * beat)), 0.6);
  }
  return samples;
}

function chords(seconds: number, waveform: string): Float32Array {
  const sounds = [
    [261.63, 329.63, 392],
    [220, 261.63, 329.63],
    [174.61, 220, 261.63],
    [196, 246.94, 293.66],
  ].map((notes) =>
    synth(
      2,
      `${notes.map((frequency) => `${waveform} ${frequency}`).join(" ")} remix - fade q 0.1 2 0.3 gain -9`,
    ),
  );
  return looped(Float32Array.from(sounds.flatMap((sound) => [...sound])), seconds);
}

/** Background music: a melody on plucked strings over chords. */
export function music(seconds: number): Float32Array {
  return mix(melody(seconds, 110, "pluck", 0, 1), chords(seconds, "triangle"));
}

/** Mixes many voices. The speech is played backward, so it contains no words. */
function crowd(speaker: Speaker, seconds: number, voices: number): Float32Array {
  const samples = new Float32Array(seconds * SAMPLE_RATE);
  const random = seeded(voices);
  const sentences = ENGLISH_SENTENCES.calibration;
  const names = ["en-us", "en+f2", "en-us+m3", "en+m7", "en-us+f3", "en-gb-scotland"];
  for (let voice = 0; voice < voices; voice++) {
    for (let at = -3 * random(); at < seconds; ) {
      const text = sentences[Math.floor(sentences.length * random())] as string;
      const spoken = speaker.say(names[voice % names.length] as string, 150, text).samples.toReversed();
      const from = Math.max(0, Math.round(at * SAMPLE_RATE));
      if (at >= 0) add(samples, spoken, from, (0.3 + 0.7 * random()) / Math.sqrt(voices));
      at += spoken.length / SAMPLE_RATE + 0.3 * random();
    }
  }
  return applySox(samples, "reverb 60");
}

function applause(seconds: number): Float32Array {
  const samples = new Float32Array(seconds * SAMPLE_RATE);
  const clap = synth(0.03, "whitenoise bandpass 1400 1200 fade l 0.001 0.03 0.025");
  const random = seeded(5);
  for (let count = 0; count < 120 * seconds; count++) {
    add(samples, clap, Math.floor(random() * (samples.length - clap.length)), 0.15 + 0.3 * random());
  }
  return samples;
}

function clicks(seconds: number): Float32Array {
  return Float32Array.from({ length: seconds * SAMPLE_RATE }, (_, index) =>
    index % (SAMPLE_RATE / 2) < 32 ? 0.9 : 0,
  );
}

function laughter(laugh: Float32Array, seconds: number): Record<string, Float32Array> {
  const loop = (effects: string) => looped(applySox(laugh, effects), seconds);
  return {
    laughter: loop("pad 0 0"),
    "laughter with pauses": loop("pad 0.5 1.5"),
    "slow laughter": loop("speed 0.8 pad 0 0.7"),
    "quick laughter": loop("speed 1.2 pad 0 0.4"),
    "laughter in a hall": loop("pad 0 1 reverb 70"),
    "laughter behind a wall": loop("lowpass 1200 pad 0.3 0.5"),
  };
}

/**
 * Yields audio without speech, about half an hour with 60 seconds per sound.
 * @param seconds duration of each sound
 * @param laugh a recorded laugh, if available
 */
export function* nonSpeech(
  speaker: Speaker,
  seconds: number,
  laugh: Float32Array | null,
): Generator<[name: string, samples: Float32Array]> {
  const s = seconds;
  yield ["silence", new Float32Array(s * SAMPLE_RATE)];
  yield ["near silence", synth(s, "whitenoise gain -60")];
  yield ["mains hum", synth(s, "sine 50 sine 100 sine 150 remix - gain -6")];
  yield ["white noise", whiteNoise(s)];
  yield ["loud white noise", synth(s, "whitenoise gain -3")];
  yield ["pink noise", pinkNoise(s)];
  yield ["brown noise", synth(s, "brownnoise gain -3")];
  yield ["a tone", synth(s, "sine 440 gain -6")];
  yield ["beeps", looped(synth(0.3, "sine 880 gain -6 pad 0 0.7"), s)];
  yield ["a dial tone", looped(synth(0.5, "sine 350 sine 440 remix - pad 0 0.5"), s)];
  yield ["sweeps", looped(synth(2, "sine 200-2000 gain -6"), s)];
  yield ["a siren", looped(synth(4, "triangle 500:1100 gain -6"), s)];
  yield ["clicks", clicks(s)];
  yield ["a slow melody on strings", melody(s, 70, "pluck", -1, 2)];
  yield ["a melody on strings", melody(s, 120, "pluck", 0, 3)];
  yield ["a fast melody on strings", melody(s, 170, "pluck", 1, 4)];
  yield ["a flute", applySox(melody(s, 90, "sine", 1, 5), "tremolo 5 30 reverb 50")];
  yield ["a reed", applySox(melody(s, 100, "sawtooth", -1, 6), "lowpass 2500 tremolo 5.5 25 gain -4")];
  yield ["an organ", applySox(chords(s, "triangle"), "tremolo 6 20 reverb 70")];
  yield ["slow drums", drums(s, 80)];
  yield ["quick drums", drums(s, 150)];
  yield ["a band", mix(music(s), drums(s, 110), melody(s, 110, "sawtooth", -2, 7))];
  yield ["an engine", mix(synth(s, "sawtooth 45 lowpass 400 gain -6"), synth(s, "brownnoise tremolo 11 50"))];
  yield ["a motorbike", looped(synth(6, "square 60-180 lowpass 900 gain -8"), s)];
  yield ["wind", synth(s, "pinknoise lowpass 600 tremolo 0.2 70 gain -3")];
  yield ["rain", synth(s, "whitenoise highpass 1500 tremolo 0.7 30 gain -9")];
  yield ["applause", applause(s)];
  yield ["crowd-like noise", synth(s, "pinknoise bandpass 700 800 tremolo 4 50 gain -3")];
  yield ["a crowd", crowd(speaker, s, 24)];
  if (laugh !== null) yield* Object.entries(laughter(laugh, s));
}
