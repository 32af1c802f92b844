import { Confusion } from "./accuracy-scores.ts";
import { VOICE_SETS, type VoiceSet } from "./accuracy-voices.ts";
import { printTable } from "./table.ts";

/** What language was told of clips of English and of other languages, ten seconds of speech and more each. */
export class LanguageDecisions {
  readonly #languages = new Confusion();
  readonly #english = new Confusion();
  readonly #others = new Confusion();
  readonly #conditions = new Confusion();
  readonly #voices = new Confusion();

  addEnglish(set: VoiceSet, voice: string, condition: string, told: string): void {
    this.#languages.add(`English, ${set} voices`, told);
    this.#english.add(set, told);
    this.#voices.add(`${voice} (${set})`, told);
    if (set === "fresh") this.#conditions.add(condition, told);
  }

  addOther(set: VoiceSet, code: string, told: string): void {
    this.#languages.add(code, told);
    this.#others.add(set, told);
  }

  print(): void {
    const { head, rows } = this.#languages.table();
    printTable("What language is told, bundled engine, ten seconds of speech or more", head, rows);
    const others = "refused ≥ 95 %, en ≤ 2 %";
    const english = "refused ≤ 1 %";
    printTable(
      "English or not, bundled engine, ten seconds of speech or more",
      ["spoken", "clips", "→ refused", "→ und", "→ zxx", "→ en", "to reach"],
      [
        ...VOICE_SETS.map((set) => [
          `other languages, ${set}`,
          ...shares(this.#others, (name) => name === set),
          others,
        ]),
        ["all other languages", ...shares(this.#others), others],
        ...VOICE_SETS.map((set) => [
          `English, ${set} voices`,
          ...shares(this.#english, (name) => name === set),
          english,
        ]),
        ...this.#conditions
          .truths()
          .map((condition) => [
            `  … fresh, ${condition}`,
            ...shares(this.#conditions, (name) => name === condition),
            "",
          ]),
        ["English, all voices", ...shares(this.#english), english],
      ].filter(([, clips]) => clips !== "0"),
    );
    const refused = this.#voices
      .truths()
      .map((voice) => [voice, ...counts(this.#voices, voice)])
      .filter(([, , count]) => count !== "0");
    if (refused.length > 0) {
      printTable(
        "English that is refused",
        ["voice", "clips", "→ refused", "→ und", "→ zxx", "→ en"],
        refused,
      );
    }
  }
}

const TOLD = ["refused", "und", "zxx", "en"] as const;

function counts(confusion: Confusion, truth: string): string[] {
  const is = (name: string) => name === truth;
  return [confusion.count(is), ...TOLD.map((told) => confusion.count(is, told))].map(String);
}

function shares(confusion: Confusion, truths: (truth: string) => boolean = () => true): string[] {
  const clips = confusion.count(truths);
  const share = (told: string) => ((100 * confusion.count(truths, told)) / clips).toFixed(1);
  return [String(clips), ...TOLD.map((told) => `${share(told)} %`)];
}
