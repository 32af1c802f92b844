import type { Paragraph } from "./transcript-model.ts";

/** A stretch of a paragraph's text, in UTF-16 units. */
export interface Match {
  paragraph: number;
  from: number;
  to: number;
}

/** More are not counted: nobody steps through them, and each costs the browser. */
export const MOST_MATCHES = 2_000;

interface Folded {
  text: string;
  /** Where each unit of the folded text comes from; null where the two are alike unit by unit. */
  origins: Uint32Array | null;
}

/** Finds text in paragraphs, whatever its case and its diacritics; keeps what it has folded. */
export class TranscriptSearch {
  readonly #paragraphs: readonly Paragraph[];
  readonly #folded: (Folded | undefined)[] = [];

  constructor(paragraphs: readonly Paragraph[]) {
    this.#paragraphs = paragraphs;
  }

  /** In order, without overlaps, at most `MOST_MATCHES`. */
  find(query: string): Match[] {
    const wanted = fold(query.trim().replace(/\s+/g, " ")).text;
    const matches: Match[] = [];
    if (wanted === "") return matches;
    for (let paragraph = 0; paragraph < this.#paragraphs.length; paragraph++) {
      this.#folded[paragraph] ??= fold(this.#paragraphs[paragraph]!.text);
      const { text, origins } = this.#folded[paragraph]!;
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
        const end = at + wanted.length;
        const from = origins ? origins[at]! : at;
        // Marks that were dropped belong to the letter before them.
        matches.push({ paragraph, from, to: origins ? Math.max(origins[end]!, from + 1) : end });
        if (matches.length === MOST_MATCHES) return matches;
      }
    }
    return matches;
  }
}

function fold(text: string): Folded {
  if (/^[\0-\x7f]*$/.test(text)) return { text: text.toLowerCase(), origins: null };
  const parts: string[] = [];
  const origins: number[] = [];
  let offset = 0;
  // By whole stretches of ASCII, which is what most of most texts is.
  for (const [run] of text.matchAll(/[\0-\x7f]+|[^\0-\x7f]/gu)) {
    const isPlain = run.charCodeAt(0) < 0x80;
    const part = isPlain ? run.toLowerCase() : foldCharacter(run);
    for (let unit = 0; unit < part.length; unit++) origins.push(isPlain ? offset + unit : offset);
    parts.push(part);
    offset += run.length;
  }
  origins.push(offset);
  return { text: parts.join(""), origins: Uint32Array.from(origins) };
}

function foldCharacter(character: string): string {
  return character.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "");
}
