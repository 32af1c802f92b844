import { Type } from "typebox";
import { Value } from "typebox/value";
import type { Db } from "../db/schema.ts";
import { getEnvironment } from "../environments/environments.ts";
import { AppError } from "../lib/errors.ts";
import { serializeVideo } from "../resources/serializers.ts";
import { countTerms, parseQuery, type Query } from "../search/query.ts";
import { type FoundVideo, type ResultPosition, searchTranscripts } from "../search/search.ts";
import { findVideos } from "../videos/list-queries.ts";
import { findTranscriptionsByVideo } from "../videos/queries.ts";
import { SEARCH_LIMITS, type SearchVideoView } from "./contract/search.ts";
import { defineHandlers } from "./operation.ts";

const DEFAULT_LIMIT = 20;

const Cursor = Type.Tuple([
  Type.Number(),
  Type.Integer({ minimum: 1 }),
  Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }),
]);

export function searchHandlers({ db }: { db: Db }) {
  return defineHandlers({
    "GET /environments/:environment/search": async ({ params, query: { q, language, cursor, limit } }) => {
      const environment = await getEnvironment(db, params.environment);
      const query = readQuery(q);
      const found = await searchTranscripts(db, environment.id, {
        query,
        language: language ?? null,
        after: cursor === undefined ? null : readCursor(cursor),
        limit: limit ?? DEFAULT_LIMIT,
      });
      return {
        data: await toSearchVideoViews(db, found.videos),
        nextCursor: found.next && writeCursor(found.next),
        videoCount: found.videoCount,
        matchCount: found.matchCount,
        isTruncated: found.isTruncated,
        hint: query.emptyReason ?? (found.onlyCommonWords ? "only_common_words" : null),
        languages: found.languages,
      };
    },
  });
}

function readQuery(text: string): Query {
  const query = parseQuery(text);
  if (countTerms(query) > SEARCH_LIMITS.words) {
    throw new AppError("invalid_request", `A search may contain at most ${SEARCH_LIMITS.words} words.`);
  }
  return query;
}

function writeCursor({ rank, matches, document }: ResultPosition): string {
  return Buffer.from(JSON.stringify([rank, matches, document])).toString("base64url");
}

function readCursor(cursor: string): ResultPosition {
  const value = parseJson(Buffer.from(cursor, "base64url").toString());
  if (!Value.Check(Cursor, value)) {
    throw new AppError("invalid_request", "The cursor is invalid. Use `nextCursor` from the previous page.");
  }
  const [rank, matches, document] = value;
  return { rank, matches, document };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function toSearchVideoViews(db: Db, found: readonly FoundVideo[]): Promise<SearchVideoView[]> {
  const ids = found.map(({ videoId }) => videoId);
  const videos = new Map((await findVideos(db, ids)).map((video) => [video.id, video]));
  const transcriptions = await findTranscriptionsByVideo(db, ids);
  return found.flatMap(({ videoId, position, passages }) => {
    const video = videos.get(videoId);
    // The video was deleted in the meantime.
    if (!video) return [];
    const transcription = transcriptions.get(videoId);
    const { filename, createdAt } = serializeVideo(video, transcription);
    return [
      {
        videoId,
        filename,
        language: transcription?.language ?? null,
        duration: transcription?.duration ?? null,
        createdAt,
        matchCount: position.matches,
        passages: passages.map(({ startMs, endMs, text, marks }) => ({
          startSeconds: startMs / 1000,
          endSeconds: endMs / 1000,
          text,
          marks,
        })),
      },
    ];
  });
}
