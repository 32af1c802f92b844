import { printTable } from "../table.ts";
import { Confusion } from "./scores.ts";
import { VOICE_SETS, type VoiceSet } from "./voices.ts";

/** Counts the languages that were detected in clips with at least ten seconds of speech. */
export class LanguageDecisions {
  readonly #languages = new Confusion();
  readonly #english = new Confusion();
  readonly #others = new Confusion();
  readonly #conditions = new Confusion();
  readonly #voices = new Confusion();

  addEnglish(set: VoiceSet, voice: string, condition: string, detected: string): void {
    this.#languages.add(`English, ${set} voices`, detected);
    this.#english.add(set, detected);
    this.#voices.add(`${voice} (${set})`, detected);
    if (set === "fresh") this.#conditions.add(condition, detected);
  }

  addOther(set: VoiceSet, code: string, detected: string): void {
    this.#languages.add(code, detected);
    this.#others.add(set, detected);
  }

  print(): void {
    const { head, rows } = this.#languages.table();
    printTable("Detected language, bundled engine, at least ten seconds of speech", head, rows);
    const othersTarget = "refused ≥ 95%, en ≤ 2%";
    const englishTarget = "refused ≤ 1%";
    printTable(
      "English or not, bundled engine, at least ten seconds of speech",
      ["spoken", "clips", ...OUTCOMES.map((outcome) => `→ ${outcome}`), "target"],
      [
        ...VOICE_SETS.map((set) => [
          `other languages, ${set}`,
          ...shares(this.#others, (name) => name === set),
          othersTarget,
        ]),
        ["all other languages", ...shares(this.#others), othersTarget],
        ...VOICE_SETS.map((set) => [
          `English, ${set} voices`,
          ...shares(this.#english, (name) => name === set),
          englishTarget,
        ]),
        ...this.#conditions
          .trueClasses()
          .map((condition) => [
            `  … fresh, ${condition}`,
            ...shares(this.#conditions, (name) => name === condition),
            "",
          ]),
        ["English, all voices", ...shares(this.#english), englishTarget],
      ].filter(([, clips]) => clips !== "0"),
    );
    const refused = this.#voices
      .trueClasses()
      .filter((voice) => this.#voices.count((name) => name === voice, "refused") > 0)
      .map((voice) => [voice, ...counts(this.#voices, voice)]);
    if (refused.length > 0) {
      printTable(
        "English clips refused, by voice",
        ["voice", "clips", ...OUTCOMES.map((outcome) => `→ ${outcome}`)],
        refused,
      );
    }
  }
}

const OUTCOMES = ["refused", "und", "zxx", "en"] as const;

function counts(confusion: Confusion, truth: string): string[] {
  const matches = (name: string) => name === truth;
  return [confusion.count(matches), ...OUTCOMES.map((detected) => confusion.count(matches, detected))].map(
    String,
  );
}

function shares(confusion: Confusion, matches: (truth: string) => boolean = () => true): string[] {
  const clips = confusion.count(matches);
  const share = (detected: string) => ((100 * confusion.count(matches, detected)) / clips).toFixed(1);
  return [String(clips), ...OUTCOMES.map((detected) => `${share(detected)}%`)];
}
