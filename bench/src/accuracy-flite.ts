import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clip, type SaidWord, samplesOfFile } from "./accuracy-made-speech.ts";

/**
 * Voices that flite learnt from recordings of people, nearer to them than espeak-ng's, and the joined sounds of
 * one man, of which `kal` has 4 kHz as on a telephone.
 */
export type FliteVoice = "rms" | "slt" | "awb" | "kal" | "kal16";

export function hasFlite(): boolean {
  return spawnSync("flite", ["--version"]).error === undefined;
}

/** Speaks texts through flite, the same every time. */
export class FliteSpeaker {
  readonly #soundsOf = new Map<string, number>();

  /** @param stretch Duration factor of each phoneme: 1 is the voice's own pace. */
  say(voice: FliteVoice, stretch: number, text: string): Clip {
    const folder = mkdtempSync(join(tmpdir(), "flite-"));
    try {
      const wav = join(folder, "said.wav");
      const flite = (...options: string[]) => {
        const manner = ["-voice", voice, "--setf", `duration_stretch=${stretch}`];
        return execFileSync("flite", [...manner, ...options, "-o", wav], { encoding: "utf8" });
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
 * flite reports when each phoneme ends, but not its word: a word has as many as when it is said alone. Without
 * times where that does not add up, for a word may be said otherwise in a sentence.
 */
function wordTimes(text: string, sounds: readonly string[][], counts: readonly number[]): SaidWord[] {
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
