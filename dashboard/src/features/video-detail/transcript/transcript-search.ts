import type { Paragraph } from "./transcript-model.ts";

/** A range in the text of a paragraph. Offsets are in UTF-16 code units. */
export interface Match {
  /** Index of the paragraph. */
  paragraph: number;
  from: number;
  /** Exclusive. */
  to: number;
}

/** Limits the cost of highlighting. */
export const MAX_MATCHES = 2_000;

interface Folded {
  text: string;
  /** Original offset of each code unit of the folded text, and of its end; null if the offsets are identical. */
  origins: Uint32Array | null;
}

/** Case- and diacritic-insensitive search. Caches the folded paragraphs. */
export class TranscriptSearch {
  readonly #paragraphs: readonly Paragraph[];
  readonly #folded: (Folded | undefined)[] = [];

  constructor(paragraphs: readonly Paragraph[]) {
    this.#paragraphs = paragraphs;
  }

  /** Returns at most `MAX_MATCHES` matches, in order and without overlaps. */
  find(query: string): Match[] {
    const needle = fold(query.trim().replace(/\s+/g, " ")).text;
    const matches: Match[] = [];
    if (needle === "") return matches;
    for (let paragraph = 0; paragraph < this.#paragraphs.length; paragraph++) {
      this.#folded[paragraph] ??= fold(this.#paragraphs[paragraph]!.text);
      const { text, origins } = this.#folded[paragraph]!;
      for (let at = text.indexOf(needle); at >= 0; ) {
        let end = at + needle.length;
        // A match includes its last character entirely, e.g. `ﬁ` for `f`, with the marks that folding removed.
        while (origins && origins[end] === origins[end - 1]) end++;
        matches.push({ paragraph, from: origins ? origins[at]! : at, to: origins ? origins[end]! : end });
        if (matches.length === MAX_MATCHES) return matches;
        at = text.indexOf(needle, end);
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
  // Fold entire runs of ASCII, which make up the bulk of most texts, and other characters together with their marks.
  for (const [run] of text.matchAll(/[\0-\x7f]+(?!\p{M})|.\p{M}*/gsu)) {
    const isAscii = /^[\0-\x7f]+$/.test(run);
    const part = isAscii ? run.toLowerCase() : foldCharacter(run);
    for (let unit = 0; unit < part.length; unit++) origins.push(isAscii ? offset + unit : offset);
    parts.push(part);
    offset += run.length;
  }
  origins.push(offset);
  return { text: parts.join(""), origins: Uint32Array.from(origins) };
}

/**
 * Accents of Latin, Greek and Cyrillic, Hebrew points, Arabic vowel signs and tatweel, and variation selectors. In other
 * scripts, such as Devanagari, marks distinguish letters.
 */
const OPTIONAL_MARKS = /[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]|[\ufe00-\ufe0f]/g;

function foldCharacter(character: string): string {
  return character
    .normalize("NFKD")
    .toLowerCase()
    .replace(OPTIONAL_MARKS, "")
    .replace("ς", "σ")
    .normalize("NFC");
}
