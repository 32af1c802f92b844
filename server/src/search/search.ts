import type { Db } from "../db/schema.ts";
import { type Lexemes, lookUpLexemes, quote, shardMarker } from "./lexemes.ts";
import { createMatcher, findMarks, type Matcher } from "./match.ts";
import {
  type Candidate,
  type FoundPassage,
  findCandidates,
  findDocuments,
  findPassages,
  searchLanguages,
  searchShards,
} from "./queries.ts";
import type { Query } from "./query.ts";
import { tokenize } from "./tokens.ts";

/**
 * Maximum number of passages to rank, approximately the newest ones. Limits how long a query of the search takes. The
 * embedded database runs no other query at the same time.
 */
const MAX_CANDIDATES = 2_000;
/** Shards per query. The embedded database can run other queries in between. */
const MAX_SHARDS_AT_ONCE = 16;
/**
 * A search stops after this time. A phrase of common words in a rare order would otherwise cause a scan of all shards.
 */
const MAX_SEARCH_MS = 1_000;
/** Maximum number of passages per video. */
const SHOWN_PASSAGES = 3;

export interface ResultPosition {
  rank: number;
  matches: number;
  document: number;
}

interface SearchRequest {
  query: Query;
  language: string | null;
  /** The last result of the previous page. */
  after: ResultPosition | null;
  limit: number;
}

export interface FoundVideo {
  videoId: string;
  position: ResultPosition;
  /** The best passages in chronological order. */
  passages: (FoundPassage & { marks: [start: number, end: number][] })[];
}

interface SearchResult {
  /** Best match first. */
  videos: FoundVideo[];
  next: ResultPosition | null;
  /** On all pages. */
  videoCount: number;
  matchCount: number;
  /** Whether there may be more matches than were ranked. */
  isTruncated: boolean;
  /** Whether the query contains only stop words of the environment's languages. */
  onlyCommonWords: boolean;
  languages: string[];
}

export async function searchTranscripts(
  db: Db,
  environmentId: string,
  { query, language, after, limit }: SearchRequest,
): Promise<SearchResult> {
  const spoken = await searchLanguages(db, environmentId);
  const nothing: SearchResult = {
    videos: [],
    next: null,
    videoCount: 0,
    matchCount: 0,
    isTruncated: false,
    onlyCommonWords: false,
    languages: [...new Set(spoken.map((each) => each.language))],
  };
  if (spoken.length === 0 || query.alternatives.length === 0) return nothing;
  const dictionaries = [...new Set(spoken.map(({ dictionary }) => dictionary))];
  const matchers = await createMatchers(db, query, dictionaries);
  if (matchers.length === 0) return { ...nothing, onlyCommonWords: true };

  const { candidates, isTruncated } = await findMatches(db, environmentId, matchers, language);
  const ranked = rankVideos(candidates);
  const from = after === null ? 0 : ranked.findIndex(({ position }) => comparePositions(after, position) < 0);
  const page = from < 0 ? [] : ranked.slice(from, from + limit);
  const hasNext = from >= 0 && ranked.length > from + limit;
  return {
    ...nothing,
    videos: await readVideos(db, page, matchers),
    next: hasNext ? page.at(-1)!.position : null,
    videoCount: ranked.length,
    matchCount: candidates.length,
    isTruncated,
  };
}

async function createMatchers(db: Db, query: Query, dictionaries: string[]): Promise<Matcher[]> {
  const words = query.alternatives.flatMap(({ required, excluded }) =>
    [...required, ...excluded].flatMap(({ tokens }) => tokens),
  );
  const matchers = new Map<string, Matcher>();
  for (const dictionary of dictionaries) {
    const matcher = createMatcher(query, await lookUpLexemes(db, dictionary, words));
    if (matcher) matchers.set(matcher.tsquery, matcher);
  }
  return [...matchers.values()];
}

/** Searches shards newest first, in batches that double in size, until there are enough results or time runs out. */
async function findMatches(
  db: Db,
  environmentId: string,
  matchers: readonly Matcher[],
  language: string | null,
): Promise<{ candidates: Candidate[]; isTruncated: boolean }> {
  const startedAt = performance.now();
  const tsquery = anyOf(matchers.map((matcher) => matcher.tsquery));
  const exactTsquery = anyOf(matchers.map((matcher) => matcher.exactTsquery));
  const markers = (await searchShards(db, environmentId)).map((shard) => quote(shardMarker(shard)));
  const found: Candidate[] = [];
  let from = 0;
  for (let size = 1; from < markers.length && found.length < MAX_CANDIDATES; ) {
    if (performance.now() - startedAt > MAX_SEARCH_MS) break;
    const shards = markers.slice(from, from + size).join(" | ");
    const limit = MAX_CANDIDATES - found.length;
    found.push(
      ...(await findCandidates(db, environmentId, { tsquery, exactTsquery, shards, language, limit })),
    );
    from += size;
    size = Math.min(size * 2, MAX_SHARDS_AT_ONCE);
  }
  return { candidates: found, isTruncated: found.length === MAX_CANDIDATES || from < markers.length };
}

function anyOf(queries: string[]): string {
  return queries.map((query) => `(${query})`).join(" | ");
}

interface RankedVideo {
  position: ResultPosition;
  candidates: Candidate[];
}

/** Sorts by best passage, then by number of passages, then newest first. */
function rankVideos(candidates: readonly Candidate[]): RankedVideo[] {
  return [...Map.groupBy(candidates, ({ document }) => document)]
    .map(([document, group]) => {
      const sorted = group.toSorted((a, b) => b.rank - a.rank || a.ordinal - b.ordinal);
      return { position: { rank: sorted[0]!.rank, matches: group.length, document }, candidates: sorted };
    })
    .sort((a, b) => comparePositions(a.position, b.position));
}

function comparePositions(a: ResultPosition, b: ResultPosition): number {
  return b.rank - a.rank || b.matches - a.matches || b.document - a.document;
}

async function readVideos(
  db: Db,
  page: readonly RankedVideo[],
  matchers: readonly Matcher[],
): Promise<FoundVideo[]> {
  const documents = await findDocuments(
    db,
    page.map(({ position }) => position.document),
  );
  const shown = page.flatMap(({ candidates }) => candidates.slice(0, SHOWN_PASSAGES));
  const passages = Map.groupBy(await findPassages(db, shown), ({ document }) => document);
  const marker = await createMarker(db, [...passages.values()].flat(), documents, matchers);
  return page.flatMap(({ position }) => {
    const document = documents.get(position.document);
    const group = passages.get(position.document);
    // The document was deleted in the meantime.
    if (!document || !group) return [];
    return [{ videoId: document.videoId, position, passages: group.map(marker) }];
  });
}

/** Looks up the words of all passages in the dictionaries with which they were indexed. */
async function createMarker(
  db: Db,
  passages: readonly FoundPassage[],
  documents: ReadonlyMap<number, { dictionary: string }>,
  matchers: readonly Matcher[],
): Promise<(passage: FoundPassage) => FoundVideo["passages"][number]> {
  const terms = matchers.flatMap((matcher) => matcher.terms);
  const dictionaryOf = ({ document }: FoundPassage) => documents.get(document)?.dictionary ?? "";
  const lexemes = new Map<string, Lexemes>();
  for (const [dictionary, group] of Map.groupBy(passages, dictionaryOf)) {
    if (dictionary === "") continue;
    lexemes.set(
      dictionary,
      await lookUpLexemes(
        db,
        dictionary,
        group.flatMap(({ text }) => tokenize(text)),
      ),
    );
  }
  return (passage) => {
    const known = lexemes.get(dictionaryOf(passage)) ?? new Map();
    return { ...passage, marks: findMarks(tokenize(passage.text), known, terms) };
  };
}
