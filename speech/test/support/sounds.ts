/** Synthetic sounds without speech, 16 kHz mono. */

const RATE = 16_000;
const TURN = 2 * Math.PI;

function made(seconds: number, sampleAt: (seconds: number) => number): Float32Array {
  return Float32Array.from({ length: seconds * RATE }, (_, index) => sampleAt(index / RATE));
}

/** Returns a generator of white noise, −1 … 1, the same on every run. */
function noise(): () => number {
  let state = 1;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 31 - 1;
  };
}

function pinkNoise(seconds: number): Float32Array {
  const next = noise();
  const rows = new Float32Array(7).map(next);
  return Float32Array.from({ length: seconds * RATE }, (_, index) => {
    // Voss and McCartney: row k takes a new value every 2^k samples.
    const row = Math.min(6, Math.clz32(1) - Math.clz32((index + 1) & -(index + 1)));
    rows[row] = next();
    return 0.03 * rows.reduce((sum, value) => sum + value, 0);
  });
}

function tone(frequency: number) {
  return (seconds: number) => Math.sin(TURN * frequency * seconds);
}

const chord = [261.63, 329.63, 392.0].map(tone);
const next = noise();

export function nonSpeech(seconds: number): Record<string, Float32Array> {
  return {
    silence: made(seconds, () => 0),
    "quiet white noise": made(seconds, () => 0.01 * next()),
    "loud white noise": made(seconds, () => 0.5 * next()),
    "pink noise": pinkNoise(seconds),
    "mains hum": made(seconds, (at) => 0.3 * tone(50)(at) + 0.1 * tone(100)(at) + 0.05 * tone(150)(at)),
    "a tone": made(seconds, (at) => 0.5 * tone(440)(at)),
    beeps: made(seconds, (at) => (at % 1 < 0.2 ? 0.5 * tone(880)(at) : 0)),
    clicks: made(seconds, (at) => (at % 0.5 < 0.002 ? 0.9 : 0)),
    "a chord of music": made(seconds, (at) => 0.2 * chord.reduce((sum, part) => sum + part(at), 0)),
  };
}

/** Returns noise at a constant level in dBFS (RMS), like that of a muted input or a quiet room. */
export function steadyNoise(
  kind: "white noise" | "pink noise" | "mains hum",
  decibels: number,
  seconds: number,
): Float32Array {
  const random = noise();
  const samples = {
    "white noise": () => made(seconds, random),
    "pink noise": () => pinkNoise(seconds),
    "mains hum": () => made(seconds, tone(50)),
  }[kind]();
  const level = Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length);
  return samples.map((sample) => (sample / level) * 10 ** (decibels / 20));
}
