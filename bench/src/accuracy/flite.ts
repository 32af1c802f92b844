import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clip, decodeFile, type SpokenWord } from "./synthetic-speech.ts";

/**
 * Most flite voices are trained on recorded speech and sound more natural than espeak-ng. `kal` and `kal16` are diphone
 * voices of the same man; `kal` has a bandwidth of 4 kHz, like a telephone.
 */
export type FliteVoice = "rms" | "slt" | "awb" | "kal" | "kal16";

export function hasFlite(): boolean {
  return spawnSync("flite", ["--version"]).error === undefined;
}

export class FliteSpeaker {
  readonly #phonemeCounts = new Map<string, number>();

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
        const count = this.#phonemeCounts.get(word) ?? countPhonemes(flite("-ps", "-t", word));
        this.#phonemeCounts.set(word, count);
        return count;
      });
      const phonemes = flite("-psdur", "-t", text)
        .trim()
        .split(" ")
        .map((phoneme) => phoneme.split(":"));
      const samples = decodeFile(wav);
      return { samples, words: wordTimes(text, phonemes, counts) };
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
}

function countPhonemes(text: string): number {
  return text.split(/\s+/).filter((phoneme) => phoneme !== "" && phoneme !== "pau").length;
}

/**
 * flite reports when each phoneme ends but not to which word it belongs. Each word is assumed to have as many phonemes
 * as in isolation. If the counts do not add up, because words are pronounced differently in the sentence, all times are
 * null.
 */
function wordTimes(text: string, phonemes: readonly string[][], counts: readonly number[]): SpokenWord[] {
  const spans = phonemes.flatMap(([name, end], index) =>
    name === "pau" ? [] : [{ start: Number(phonemes[index - 1]?.[1] ?? 0), end: Number(end) }],
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
