import { buffer } from "node:stream/consumers";
import { renderSpeakerSrt, renderSpeakerText, renderSpeakerVtt } from "@subtext/captions/speakers";
import type { EditableWord } from "@subtext/client/contract/transcript-words";
import { readWords } from "../../corrections/words-file.ts";
import type { Db } from "../../db/schema.ts";
import { matchesEtag, sendFile } from "../../http/send-file.ts";
import { sendJson } from "../../http/send-json.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError, type AppErrorCode } from "../../lib/errors.ts";
import { serializeVideo, transcriptFileName } from "../../resources/serializers.ts";
import { contentDisposition, DOWNLOAD_TYPE } from "../../storage/content-disposition.ts";
import { isObjectMissing } from "../../storage/object-errors.ts";
import type { RecordingStore } from "../../storage/recording-store.ts";
import { currentPrefix, fileKey, posterKey, waveformKey } from "../../storage/transcript-files.ts";
import type { TranscriptStore } from "../../storage/transcript-store.ts";
import { findTranscriptionByVideo } from "../../transcription/queries.ts";
import { MEDIA_TYPE_BYTES, mediaType } from "../../videos/media-type.ts";
import { SPEAKER_FORMATS, type SpeakerFormat } from "../contract/video-detail.ts";
import { type Call, defineHandlers } from "../operation.ts";
import { transcriptWords } from "./transcript-words.ts";
import { getVideoFromParams } from "./videos.ts";

/** Long, because an open player requests all ranges from the URL of the first redirect. */
const MEDIA_URL_LIFETIME_SECONDS = 12 * 3600;
/** Part of the ETag. Increment this when the response for the same words changes. */
const WORDS_VERSION = 3;

interface VideoFileDeps {
  db: Db;
  clock: Clock;
  recordings: RecordingStore;
  transcripts: TranscriptStore;
}

export function videoFileHandlers(deps: VideoFileDeps) {
  const { db, transcripts } = deps;
  return defineHandlers({
    "GET /environments/:environment/videos/:video/media": async (call) => await sendMedia(deps, call),
    "HEAD /environments/:environment/videos/:video/media": async (call) => await sendMedia(deps, call),

    "GET /environments/:environment/videos/:video/transcript": async ({ params, request, reply }) => {
      const video = await getVideoFromParams(db, params);
      const row = await findTranscriptionByVideo(db, video.id);
      const prefix = row && currentPrefix(row);
      if (!prefix) throw new AppError("transcript_not_found", "The video has no transcript.");
      return await sendJson(request, reply, {
        tag: `${tagOf(prefix)}-${WORDS_VERSION}`,
        render: async () => {
          const words = await readWords(transcripts, prefix).catch(asNotFound("transcript_not_found"));
          const confidences = words.map(({ confidence }) => confidence);
          return JSON.stringify(
            transcriptWords(words, {
              language: row.language ?? "und",
              confidences: confidences.some((confidence) => confidence !== null) ? confidences : null,
            }),
          );
        },
      });
    },

    // The frame of a video never changes. The browser's cache is keyed by the cookie, so signing out ends access to it.
    "GET /environments/:environment/videos/:video/poster": async ({ params, request, reply }) => {
      const video = await getVideoFromParams(db, params);
      const prefix = (await findTranscriptionByVideo(db, video.id))?.poster_prefix;
      if (!prefix) throw new AppError("poster_not_found", "The video has no poster.");
      const etag = `"${tagOf(prefix)}"`;
      reply.headers({ etag, "cache-control": "private, max-age=86400, immutable", vary: "cookie" });
      if (matchesEtag(request.headers["if-none-match"], etag)) return await reply.code(304).send();
      const frame = await transcripts.read(posterKey(prefix)).catch(asNotFound("poster_not_found"));
      return await reply.type("image/jpeg").send(frame);
    },

    // Not redirected to storage, because browsers load cross-origin captions only if the other origin allows it.
    "GET /environments/:environment/videos/:video/captions": async ({ params, request, reply }) => {
      const video = await getVideoFromParams(db, params);
      const row = await findTranscriptionByVideo(db, video.id);
      const prefix = row && currentPrefix(row);
      if (!prefix) throw new AppError("transcript_not_found", "The video has no captions.");
      const etag = `"${tagOf(prefix)}"`;
      reply.headers({ etag, "cache-control": "private, no-cache" });
      if (matchesEtag(request.headers["if-none-match"], etag)) return await reply.code(304).send();
      const captions = await transcripts
        .read(fileKey(prefix, "vtt"))
        .catch(asNotFound("transcript_not_found"));
      return await reply.type("text/vtt; charset=utf-8").send(captions);
    },

    // Not redirected to storage, because browsers ignore `download` on cross-origin links and show the file.
    "GET /environments/:environment/videos/:video/files/:format": async ({ params, reply }) => {
      const video = await getVideoFromParams(db, params);
      const row = await findTranscriptionByVideo(db, video.id);
      const format = row?.file_formats.find((each) => each === params.format);
      const prefix = row && currentPrefix(row);
      if (!prefix || !format) {
        throw new AppError("transcript_not_found", "The video has no file in this format.");
      }
      const name = transcriptFileName(row, video.metadata, format);
      const file = await transcripts.read(fileKey(prefix, format)).catch(asNotFound("transcript_not_found"));
      reply.header("content-disposition", contentDisposition(name, DOWNLOAD_TYPE));
      return await reply.type(DOWNLOAD_TYPE).send(file);
    },

    "GET /environments/:environment/videos/:video/speaker-files/:format": async ({ params, reply }) => {
      const video = await getVideoFromParams(db, params);
      const row = await findTranscriptionByVideo(db, video.id);
      const format = SPEAKER_FORMATS.find((each) => each === params.format);
      const prefix = row && currentPrefix(row);
      if (!prefix || !format) {
        throw new AppError("transcript_not_found", "The video has no file in this format.");
      }
      const words = await readWords(transcripts, prefix).catch(asNotFound("transcript_not_found"));
      const name = transcriptFileName(row, video.metadata, `speakers.${format}`);
      reply.header("content-disposition", contentDisposition(name, DOWNLOAD_TYPE));
      return await reply
        .type(DOWNLOAD_TYPE)
        .send(renderSpeakerFile(words, { format, language: row.language ?? "und" }));
    },

    "GET /environments/:environment/videos/:video/waveform": async ({ params, request, reply }) => {
      const video = await getVideoFromParams(db, params);
      const prefix = (await findTranscriptionByVideo(db, video.id))?.waveform_prefix;
      if (!prefix) throw new AppError("waveform_not_found", "The recording has not been decoded.");
      return await sendJson(request, reply, {
        tag: tagOf(prefix),
        render: async () =>
          await buffer(await transcripts.read(waveformKey(prefix)).catch(asNotFound("waveform_not_found"))),
      });
    },
  });
}

/** Sends the recording to the player or, with `?download`, as a file to save. */
async function sendMedia(
  { db, recordings, clock }: VideoFileDeps,
  {
    params,
    query,
    request,
    reply,
  }: Pick<
    Call<"GET /environments/:environment/videos/:video/media">,
    "params" | "query" | "request" | "reply"
  >,
): Promise<unknown> {
  const video = await getVideoFromParams(db, params);
  if (video.uploaded_at === null) {
    throw new AppError("storage_object_missing", "The video has not finished uploading.");
  }
  if (video.recording_deleted_at !== null) {
    throw new AppError("recording_deleted", "The environment's retention policy deleted the recording.");
  }
  const isDownload = query.download !== undefined;
  const contentType = (!isDownload && (await typeOfRecording(recordings, video.id))) || DOWNLOAD_TYPE;
  const fileName = serializeVideo(video, undefined).filename ?? video.id;
  // A presigned URL is valid for only one method.
  if (request.method === "GET") {
    const presigned = await recordings.presign(video.id, {
      contentType,
      fileName,
      lifetimeSeconds: MEDIA_URL_LIFETIME_SECONDS,
      now: clock.now(),
    });
    if (presigned) return await reply.redirect(presigned.url, 302);
  }
  return await sendFile(request, reply, await recordings.openFile(video.id), {
    contentType,
    contentDisposition: contentDisposition(fileName, contentType),
    cacheControl: "private, no-cache",
  });
}

/**
 * Detects the media type of a recording; returns null if it is unknown.
 * @throws AppError `storage_object_missing`, `storage_unavailable`
 */
export async function typeOfRecording(recordings: RecordingStore, videoId: string): Promise<string | null> {
  const file = await recordings.openFile(videoId);
  if (file.size === 0) {
    await file.close();
    return null;
  }
  return mediaType(await buffer(file.stream({ start: 0, end: Math.min(MEDIA_TYPE_BYTES, file.size) - 1 })));
}

/** Returns an ETag without quotes. A prefix is used for only one attempt or save, so it identifies the content. */
function tagOf(prefix: string): string {
  return prefix.replaceAll("/", "-");
}

/** Replaces the storage error for a missing file. */
function asNotFound(code: AppErrorCode): (error: unknown) => never {
  return (error) => {
    if (isObjectMissing(error)) throw new AppError(code, "The file no longer exists.", { cause: error });
    throw error;
  };
}

function renderSpeakerFile(
  words: readonly EditableWord[],
  { format, language }: { format: SpeakerFormat; language: string },
): string {
  const named = words.map(({ word, start, end, speaker, channel }) => ({
    word,
    start,
    end,
    speaker: speaker ?? undefined,
    channel: channel ?? undefined,
  }));
  if (format === "txt") return renderSpeakerText(named);
  if (format === "srt") return renderSpeakerSrt(named, { language });
  return renderSpeakerVtt(named, { language });
}
