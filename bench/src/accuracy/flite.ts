import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clip, type SpokenWord, samplesOfFile } from "./synthetic-speech.ts";

/**
 * Voices of flite. Most are trained on recordings of people and sound more natural than those of espeak-ng. `kal` and
 * `kal16` are diphone voices of one man; `kal` has a bandwidth of 4 kHz, like a telephone.
 */
export type FliteVoice = "rms" | "slt" | "awb" | "kal" | "kal16";

export function hasFlite(): boolean {
  return spawnSync("flite", ["--version"]).error === undefined;
}

/** Synthesizes speech deterministically with flite. */
export class FliteSpeaker {
  readonly #soundsOf = new Map<string, number>();

  /** @param stretch duration factor of each phoneme; 1 is the voice's normal pace */
  say(voice: FliteVoice, stretch: number, text: string): Clip {
    const folder = mkdtempSync(join(tmpdir(), "flite-"));
    try {
      const wav = join(folder, "said.wav");
      const flite = (...options: string[]) => {
        const voiceOptions = ["-voice", voice, "--setf", `duration_stretch=${stretch}`];
        return execFileSync("flite", [...voiceOptions, ...options, "-o", wav], { encoding: "utf8" });
      };
      const counts = (text.match(/\S+/g) ?? []).map((word) => {
        const count = this.#soundsOf.get(word) ?? spoken(flite("-ps", "-t", word)).length;
        this.#soundsOf.set(word, count);
        return count;
      });
      const sounds = flite("-psdur", "-t", text)
        .trim()
        .split(" ")
        .map((sound) => sound.split(":"));
      const samples = samplesOfFile(wav);
      return { samples, words: wordTimes(text, sounds, counts) };
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
}

function spoken(sounds: string): string[] {
  return sounds.split(/\s+/).filter((sound) => sound !== "" && sound !== "pau");
}

/**
 * Returns the times of the words. flite reports the end of each phoneme but not its word, so each word is assumed to
 * have as many phonemes as when spoken alone. Pronunciation may differ within a sentence; if the counts do not add up,
 * the words have no times.
 */
function wordTimes(text: string, sounds: readonly string[][], counts: readonly number[]): SpokenWord[] {
  const spans = sounds.flatMap(([name, end], index) =>
    name === "pau" ? [] : [{ start: Number(sounds[index - 1]?.[1] ?? 0), end: Number(end) }],
  );
  const words = text.match(/\S+/g) ?? [];
  const addsUp = counts.reduce((sum, count) => sum + count, 0) === spans.length;
  let at = 0;
  return words.map((word, index) => {
    const first = spans[at];
    at += counts[index] as number;
    const last = spans[at - 1];
    return { word, start: addsUp && first ? first.start : null, end: addsUp && last ? last.end : null };
  });
}
