import type { Paragraph } from "./transcript-model.ts";

/** A range in a paragraph's text, in UTF-16 code units. */
export interface Match {
  paragraph: number;
  from: number;
  to: number;
}

/** Limits the cost of highlighting. */
export const MAX_MATCHES = 2_000;

interface Folded {
  text: string;
  /** Original offset of each code unit of the folded text; null if the offsets are identical. */
  origins: Uint32Array | null;
}

/** Case- and diacritics-insensitive search. Caches the folded paragraphs. */
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
      for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
        const end = at + needle.length;
        const from = origins ? origins[at]! : at;
        // A match includes the combining marks that folding removed after its last letter.
        matches.push({ paragraph, from, to: origins ? Math.max(origins[end]!, from + 1) : end });
        if (matches.length === MAX_MATCHES) return matches;
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
  // Fold entire runs of ASCII, which make up the bulk of most texts.
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
