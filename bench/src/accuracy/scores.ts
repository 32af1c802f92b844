import { mean } from "@subtext/speech/alignment/timed-words";
import { compareWords, plainWords, quantile } from "../../../speech/test/support/spoken.ts";
import type { SpokenWord } from "./synthetic-speech.ts";

interface RecognizedWord {
  word: string;
  start: number;
  end: number;
}

function comparePlain(spoken: readonly { word: string }[], recognized: readonly { word: string }[]) {
  const plain = ({ word }: { word: string }) => plainWords(word).join("");
  return compareWords(spoken.map(plain), recognized.map(plain));
}

/** Accumulates word errors and word time errors over clips. */
export class Tally {
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  clips = 0;
  #spoken = 0;
  #wrong = 0;

  /** Ignores case and punctuation. Compares times only for words that match. */
  add(spoken: readonly SpokenWord[], recognized: readonly RecognizedWord[]): void {
    const { agreeing, errorRate } = comparePlain(spoken, recognized);
    this.clips++;
    this.#spoken += spoken.length;
    this.#wrong += Math.round(errorRate * spoken.length);
    for (const [spokenAt, recognizedAt] of agreeing) {
      this.#addTimes(spoken[spokenAt]!, recognized[recognizedAt]!);
    }
  }

  /** Adds only matching words whose neighbors also match, because a word takes the time of an omitted neighbor. */
  addBetweenRecognized(spoken: readonly SpokenWord[], recognized: readonly RecognizedWord[]): void {
    const { agreeing } = comparePlain(spoken, recognized);
    const matches = new Map(agreeing);
    this.clips++;
    for (const [spokenAt, recognizedAt] of agreeing) {
      const isBetween = [-1, 1].every(
        (step) =>
          spoken[spokenAt + step] === undefined || matches.get(spokenAt + step) === recognizedAt + step,
      );
      if (!isBetween) continue;
      this.#spoken++;
      this.#addTimes(spoken[spokenAt]!, recognized[recognizedAt]!);
    }
  }

  #addTimes(truth: SpokenWord, found: RecognizedWord): void {
    if (truth.start !== null) this.starts.push(Math.abs(found.start - truth.start));
    if (truth.end !== null) this.ends.push(Math.abs(found.end - truth.end));
  }

  merge(other: Tally): void {
    this.starts.push(...other.starts);
    this.ends.push(...other.ends);
    this.clips += other.clips;
    this.#spoken += other.#spoken;
    this.#wrong += other.#wrong;
  }

  get words(): number {
    return this.#spoken;
  }

  get wordErrorRate(): number {
    return this.#spoken === 0 ? 0 : this.#wrong / this.#spoken;
  }

  /** Returns the cells of a table row below `TALLY_HEAD`. */
  row(): string[] {
    const times = [this.starts, this.ends].flatMap((errors) =>
      errors.length === 0
        ? ["–", "–", "–"]
        : [quantile(errors, 0.5), quantile(errors, 0.9), mean(errors)].map(
            (seconds) => `${Math.round(1000 * seconds)} ms`,
          ),
    );
    return [String(this.clips), String(this.#spoken), this.wordErrorRate.toFixed(3), ...times];
  }
}

export const TALLY_HEAD = [
  "clips",
  "words",
  "WER",
  "start median",
  "start p90",
  "start mean",
  "end median",
  "end p90",
  "end mean",
];

/** A confusion matrix: counts how often each true class was detected as each class. */
export class Confusion {
  readonly #rows = new Map<string, Map<string, number>>();

  add(truth: string, detected: string): void {
    const row = this.#rows.get(truth) ?? new Map<string, number>();
    row.set(detected, (row.get(detected) ?? 0) + 1);
    this.#rows.set(truth, row);
  }

  trueClasses(): string[] {
    return [...this.#rows.keys()];
  }

  /** @param detected by default, counts clips of all detected classes */
  count(matches: (truth: string) => boolean, detected?: string): number {
    let sum = 0;
    for (const [truth, row] of this.#rows) {
      if (!matches(truth)) continue;
      for (const [name, count] of row) if (detected === undefined || name === detected) sum += count;
    }
    return sum;
  }

  table(): { head: string[]; rows: string[][] } {
    const detected = [...new Set([...this.#rows.values()].flatMap((row) => [...row.keys()]))].toSorted();
    const rows = [...this.#rows].map(([truth, row]) => [
      truth,
      ...detected.map((name) => String(row.get(name) ?? "·")),
    ]);
    return { head: ["spoken", ...detected.map((name) => `→ ${name}`)], rows };
  }
}
