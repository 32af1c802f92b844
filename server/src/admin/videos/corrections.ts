import {
  type CorrectionDeps,
  type PreparedCorrection,
  prepareCorrection,
  prepareRestore,
  readCurrentWords,
  readRevision,
  requireCompleted,
} from "../../corrections/correct.ts";
import { wordsEtag } from "../../corrections/etag.ts";
import { listRevisions } from "../../corrections/queries.ts";
import type { Db } from "../../db/schema.ts";
import type { TranscriptionRow, TranscriptRevisionRow } from "../../db/tables/transcriptions.ts";
import { sendJson } from "../../http/send-json.ts";
import { AppError } from "../../lib/errors.ts";
import { findTranscriptionByVideo } from "../../transcription/queries.ts";
import type { RevisionView } from "../contract/transcript-words.ts";
import { type Call, defineHandlers } from "../operation.ts";
import { getVideoFromParams } from "./videos.ts";

/** Part of the response's ETag, not of the words' `etag`. Increment this when the response for the same words changes. */
const WORDS_VERSION = 1;

export function correctionHandlers(deps: CorrectionDeps) {
  const { db, transcripts } = deps;
  return defineHandlers({
    "GET /environments/:environment/videos/:video/words": async ({ params, request, reply }) => {
      const row = await getCompletedTranscription(db, params);
      const etag = wordsEtag(row);
      return await sendJson(request, reply, {
        tag: `${etag.replaceAll('"', "")}-${WORDS_VERSION}`,
        render: async () => {
          const words = await readCurrentWords(transcripts, row);
          return JSON.stringify({ etag, revision: row.revision, words });
        },
      });
    },

    "PUT /environments/:environment/videos/:video/words": async (call) => {
      const row = await getCompletedTranscription(db, call.params);
      return await commit(db, await prepareCorrection(deps, row, call.body, correctionOf(call)));
    },

    "GET /environments/:environment/videos/:video/revisions": async ({ params }) => {
      const row = await getCompletedTranscription(db, params);
      const revisions = await listRevisions(db, row.id);
      return {
        data:
          revisions.length === 0 ? [toOriginalView(row)] : revisions.map((each) => toRevisionView(each, row)),
      };
    },

    "GET /environments/:environment/videos/:video/revisions/:revision": async ({ params }) => {
      const row = await getCompletedTranscription(db, params);
      const revision = parseRevision(params.revision);
      return { revision, words: await readRevision(deps, row, revision) };
    },

    "POST /environments/:environment/videos/:video/revisions/:revision/restore": async (call) => {
      const row = await getCompletedTranscription(db, call.params);
      const revision = parseRevision(call.params.revision);
      return await commit(db, await prepareRestore(deps, row, revision, correctionOf(call)));
    },
  });
}

async function commit(db: Db, prepared: PreparedCorrection) {
  return await db.transaction().execute((tx) => prepared.commit(tx));
}

async function getCompletedTranscription(
  db: Db,
  params: { environment: string; video: string },
): Promise<TranscriptionRow> {
  const video = await getVideoFromParams(db, params);
  return requireCompleted(await findTranscriptionByVideo(db, video.id));
}

function correctionOf({
  request,
  actor,
  auditActor,
}: Pick<Call<"PUT /environments/:environment/videos/:video/words">, "request" | "actor" | "auditActor">) {
  return {
    ifMatch: request.headers["if-match"],
    actor: auditActor,
    actorName: actor === "command line" ? null : actor.operator.name,
  };
}

function parseRevision(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new AppError("revision_not_found", `The transcript has no revision ${text}.`);
}

function toOriginalView(row: TranscriptionRow): RevisionView {
  const at = row.finished_at!.toISOString();
  const wordCount = row.word_count ?? 0;
  return {
    revision: 0,
    actor: null,
    createdAt: at,
    updatedAt: at,
    wordCount,
    changedWords: 0,
    isCurrent: true,
  };
}

function toRevisionView(revision: TranscriptRevisionRow, row: TranscriptionRow): RevisionView {
  const { actor_kind: kind, actor_name: name } = revision;
  return {
    revision: revision.number,
    actor: kind && { kind, name },
    createdAt: revision.created_at.toISOString(),
    updatedAt: revision.updated_at.toISOString(),
    wordCount: revision.word_count,
    changedWords: revision.changed_words,
    isCurrent: revision.number === row.revision,
  };
}
