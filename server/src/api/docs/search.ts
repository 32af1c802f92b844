export interface SearchEntry {
  href: string;
  /** The title of its page. */
  page: string;
  heading: string;
  text: string;
}

export interface SearchHit extends SearchEntry {
  /** An excerpt around the match; every second element is a matched word. */
  excerpt: string[];
}

interface IndexedEntry {
  entry: SearchEntry;
  /** The weight of each word in this entry. */
  weights: Map<string, number>;
}

const MOST_HITS = 20;
/** Query length limit; longer queries are truncated. */
const MOST_TERMS = 8;
const LONGEST_TERM = 64;
const EXCERPT_CHARACTERS = 200;
const [HEADING_WEIGHT, PAGE_WEIGHT, TEXT_WEIGHT] = [6, 2, 1];
const PREFIX_WEIGHT = 0.5;

/**
 * An in-memory index of the documentation, a few hundred passages. Entries that contain every query word come first; if
 * there is none, entries that contain some of them. The last word may be incomplete.
 */
export function indexDocs(entries: SearchEntry[]): (question: string) => SearchHit[] {
  const lengths = entries.map(({ text }) => wordsOf(text).length);
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  const indexed = entries.map((entry, place): IndexedEntry => {
    const weights = new Map<string, number>();
    // Length normalization, as in BM25F: a text as long as a book contains every word many times.
    const textWeight = TEXT_WEIGHT / Math.max(1, lengths[place]! / meanLength);
    for (const [text, weight] of [
      [entry.heading, HEADING_WEIGHT],
      [entry.page, PAGE_WEIGHT],
      [entry.text, textWeight],
    ] as const) {
      for (const word of wordsOf(text)) weights.set(word, (weights.get(word) ?? 0) + weight);
    }
    return { entry, weights };
  });
  return (question) => {
    const terms = [...new Set(wordsOf(question, { parts: false }))].slice(0, MOST_TERMS);
    if (terms.length === 0) return [];
    const scores = terms.map((term) => scoreAll(indexed, term.slice(0, LONGEST_TERM)));
    const found = indexed.map(({ entry }, place) => {
      const each = scores.map((ofTerm) => ofTerm[place] ?? 0);
      const matched = each.filter((score) => score > 0).length;
      return { entry, matched, score: each.reduce((sum, score) => sum + score, 0) };
    });
    const most = Math.max(0, ...found.map(({ matched }) => matched));
    return found
      .filter(({ matched }) => matched > 0 && matched === most)
      .sort((one, other) => other.score - one.score)
      .slice(0, MOST_HITS)
      .map(({ entry }) => ({ ...entry, excerpt: excerptOf(entry.text, terms) }));
  };
}

/** A word weighs more if few entries contain it (BM25's IDF); each repetition in an entry adds less. */
function scoreAll(indexed: IndexedEntry[], term: string): number[] {
  const weights = indexed.map(({ weights: own }) => {
    let weight = own.get(term) ?? 0;
    if (weight > 0 || term.length < 2) return weight;
    for (const [word, counts] of own) {
      if (word.startsWith(term)) weight = Math.max(weight, counts * PREFIX_WEIGHT);
    }
    return weight;
  });
  const holders = weights.filter((weight) => weight > 0).length;
  const rarity = Math.log(1 + (indexed.length - holders + 0.5) / (holders + 0.5));
  return weights.map((weight) => (rarity * weight) / (weight + 2));
}

/** Lower case, without the plural's s. Names with underscores are kept whole, and also split into `parts`. */
function wordsOf(text: string, { parts = true } = {}): string[] {
  const names = text.toLowerCase().match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  return names
    .flatMap((name) => (parts && name.includes("_") ? [name, ...name.split("_")] : [name]))
    .filter((word) => word !== "")
    .map(stemOf);
}

function stemOf(word: string): string {
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

function excerptOf(text: string, terms: string[]): string[] {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  const matches = (name: string) => {
    const words = wordsOf(name);
    return terms.some((term) => words.some((word) => word.startsWith(term)));
  };
  const first = [...flat.matchAll(/[\p{L}\p{M}\p{N}_]+/gu)].find(([name]) => matches(name));
  const wanted = Math.max(0, (first?.index ?? 0) - EXCERPT_CHARACTERS / 3);
  const start = wanted === 0 ? 0 : flat.indexOf(" ", wanted) + 1;
  const cut = flat.slice(start, start + EXCERPT_CHARACTERS);
  const end = start + cut.length < flat.length ? cut.lastIndexOf(" ") : cut.length;
  const shown = `${start > 0 ? "… " : ""}${cut.slice(0, end < 0 ? undefined : end)}${end < cut.length ? " …" : ""}`;
  const pieces = [""];
  for (const piece of shown.split(/([\p{L}\p{M}\p{N}_]+)/u)) {
    if (matches(piece)) pieces.push(piece, "");
    else pieces[pieces.length - 1] += piece;
  }
  return pieces;
}
