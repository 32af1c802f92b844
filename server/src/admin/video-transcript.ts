import { buffer, json } from "node:stream/consumers";
import { FILE_FORMATS } from "@subtext/client/contract/transcription";
import type { FastifyInstance } from "fastify";
import type { Db } from "../db/schema.ts";
import { findTranscriptionOfVideo } from "../db/transcriptions.ts";
import { namesTag } from "../http/send-file.ts";
import { sendJson } from "../http/send-json.ts";
import { AppError, type AppErrorCode } from "../lib/errors.ts";
import { transcriptFileName } from "../resources/resources.ts";
import { contentDisposition, DOWNLOAD_TYPE } from "../storage/content-disposition.ts";
import { confidenceKey, fileKey, waveformKey } from "../storage/transcript-files.ts";
import type { Storage } from "../storage/transcript-store.ts";
import { transcriptWords } from "./transcript-words.ts";
import { findVideoOf, VIDEO_PATH, type VideoParams } from "./video-address.ts";

/** Differs where the same words would be told differently. */
const WORDS_VERSION = 1;

/** `…/transcript`, `…/captions` and `…/waveform` are what the page of one video draws; `…/files/{format}` downloads. */
export function registerVideoTranscript(
  app: FastifyInstance,
  { db, storage }: { db: Db; storage: Storage },
): void {
  app.get<VideoParams>(`${VIDEO_PATH}/transcript`, async (request, reply) => {
    const video = await findVideoOf(db, request.params);
    const row = await findTranscriptionOfVideo(db, video.id);
    if (!row?.file_prefix) throw new AppError("transcript_not_found", "The video has no transcript (yet).");
    const { file_prefix: prefix, language } = row;
    return await sendJson(request, reply, {
      tag: `${tagOf(prefix)}-${WORDS_VERSION}`,
      make: async () => {
        const [words, confidences] = await Promise.all([
          readJson(storage, fileKey(prefix, "json")).catch(asNotFound("transcript_not_found")),
          // The first releases kept none.
          readJson(storage, confidenceKey(prefix)).catch(nullWhereMissing),
        ]);
        return JSON.stringify(
          transcriptWords(words as Parameters<typeof transcriptWords>[0], {
            language: language ?? "und",
            confidences: confidences as (number | null)[] | null,
          }),
        );
      },
    });
  });

  // From here rather than from the storage: a browser takes a track of another origin only where that allows it.
  app.get<VideoParams>(`${VIDEO_PATH}/captions`, async (request, reply) => {
    const video = await findVideoOf(db, request.params);
    const prefix = (await findTranscriptionOfVideo(db, video.id))?.file_prefix;
    if (!prefix) throw new AppError("transcript_not_found", "The video has no captions (yet).");
    const etag = `"${tagOf(prefix)}"`;
    reply.headers({ etag, "cache-control": "private, no-cache" });
    if (namesTag(request.headers["if-none-match"], etag)) return await reply.code(304).send();
    const captions = await storage.read(fileKey(prefix, "vtt")).catch(asNotFound("transcript_not_found"));
    return await reply.type("text/vtt; charset=utf-8").send(captions);
  });

  // Served from here too: a browser ignores `download` on a cross-origin link and shows the file instead.
  app.get<{ Params: VideoParams["Params"] & { format: string } }>(
    `${VIDEO_PATH}/files/:format`,
    async (request, reply) => {
      const video = await findVideoOf(db, request.params);
      const row = await findTranscriptionOfVideo(db, video.id);
      const format = FILE_FORMATS.find((each) => each === request.params.format);
      if (!row?.file_prefix || !format) {
        throw new AppError("transcript_not_found", "The video has no such file (yet).");
      }
      const name = transcriptFileName(row, video.metadata, format);
      const file = await storage
        .read(fileKey(row.file_prefix, format))
        .catch(asNotFound("transcript_not_found"));
      reply.header("content-disposition", contentDisposition(name, DOWNLOAD_TYPE));
      return await reply.type(DOWNLOAD_TYPE).send(file);
    },
  );

  app.get<VideoParams>(`${VIDEO_PATH}/waveform`, async (request, reply) => {
    const video = await findVideoOf(db, request.params);
    const prefix = (await findTranscriptionOfVideo(db, video.id))?.waveform_prefix;
    if (!prefix) throw new AppError("waveform_not_found", "The recording was not decoded (yet).");
    return await sendJson(request, reply, {
      tag: tagOf(prefix),
      make: async () =>
        await buffer(await storage.read(waveformKey(prefix)).catch(asNotFound("waveform_not_found"))),
    });
  });
}

/** A prefix names its content: keys are never used again. */
function tagOf(prefix: string): string {
  return prefix.replaceAll("/", "-");
}

async function readJson(storage: Storage, key: string): Promise<unknown> {
  return await json(await storage.read(key));
}

/** The video is deleted at this very moment, or its file was taken away. */
function asNotFound(code: AppErrorCode): (error: unknown) => never {
  return (error) => {
    if (isMissing(error)) throw new AppError(code, "The file is gone.", { cause: error });
    throw error;
  };
}

function nullWhereMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

function isMissing(error: unknown): boolean {
  return error instanceof AppError && error.code === "storage_object_missing";
}
