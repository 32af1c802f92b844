import { once } from "node:events";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import type { Db } from "../db/schema.ts";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";
import type { BulkOperationRow, VideoRow } from "../db/tables/videos.ts";
import type { Clock } from "../lib/clock.ts";
import { uploadedFileName, videoFileStem } from "../resources/serializers.ts";
import { isObjectMissing } from "../storage/object-errors.ts";
import { currentPrefix, fileKey } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { findTranscriptionByVideo } from "../transcription/queries.ts";
import { findVideo } from "../videos/queries.ts";
import { ArchiveNames } from "./archive-names.ts";
import { finishOperation } from "./operations.ts";
import { deleteRemainingItems, listPendingItems, setCounts } from "./queries.ts";

export interface ArchiveDeps {
  db: Db;
  clock: Clock;
  transcripts: TranscriptStore;
  log: { info(context: object, message: string): void; error(context: object, message: string): void };
}

const PAGE = 100;
const NOT_INCLUDED = "not-included";

interface ArchiveFile {
  extension: string;
  content: Buffer;
}

/**
 * Streams the transcript files of a download as a ZIP file. Reads the files of one video at a time, after the client
 * has received those of the previous one, so that memory does not depend on the number of videos or the client's speed.
 * `not-included.txt` lists videos without a transcript. Any other failure breaks off the response, because a client
 * must not mistake part of an archive for all of it.
 */
export function streamArchive(deps: ArchiveDeps, operation: BulkOperationRow): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const closed = new AbortController();
  output.once("close", () => closed.abort());
  void writeArchive(deps, operation, zip, closed.signal).catch(async (error) => {
    // The output also closes after the client has received all of it.
    const hasLeft = closed.signal.aborted && !output.readableEnded;
    if (!hasLeft) deps.log.error({ err: error, operationId: operation.id }, "a download failed");
    output.destroy(error);
    try {
      await finishOperation(deps, operation.id, { state: hasLeft ? "canceled" : "failed" });
      await deleteRemainingItems(deps.db, operation.id);
    } catch (failure) {
      deps.log.error({ err: failure, operationId: operation.id }, "could not record the end of a download");
    }
  });
  return output;
}

async function writeArchive(
  deps: ArchiveDeps,
  operation: BulkOperationRow,
  zip: ZipFile,
  signal: AbortSignal,
): Promise<void> {
  const names = new ArchiveNames();
  names.assign(NOT_INCLUDED);
  const missing: string[] = [];
  let done = 0;
  for await (const videoId of walkVideoIds(deps.db, operation.id)) {
    signal.throwIfAborted();
    // Read only now, because a correction during a slow download replaces the files.
    const video = await findVideo(deps.db, videoId);
    const transcription = await findTranscriptionByVideo(deps.db, videoId);
    const files = await readFiles(deps.transcripts, video, transcription);
    if (typeof files === "string") {
      missing.push(describeMissing(videoId, video, files));
      continue;
    }
    const stem = names.assign(videoFileStem(videoId, video?.metadata ?? {}));
    for (const { extension, content } of files) {
      await addFile(zip, `${stem}.${extension}`, content, { modifiedAt: transcription!.finished_at, signal });
    }
    done += 1;
  }
  // The operation was canceled, or the sweep has deleted it.
  if (done + missing.length < operation.matched) throw new Error("the download ended before all its videos");
  if (missing.length > 0) {
    const content = Buffer.from(missing.join(""));
    await addFile(zip, `${NOT_INCLUDED}.txt`, content, { modifiedAt: deps.clock.now(), signal });
  }
  zip.end();
  await once(zip.outputStream, "end", { signal });
  await setCounts(deps.db, operation.id, { done, skipped: missing.length });
  await finishOperation(deps, operation.id, { state: "completed" });
  await deleteRemainingItems(deps.db, operation.id);
}

async function* walkVideoIds(db: Db, operationId: string): AsyncGenerator<string> {
  let after = "";
  for (;;) {
    const ids = await listPendingItems(db, operationId, { after, limit: PAGE });
    yield* ids;
    if (ids.length < PAGE) return;
    after = ids.at(-1)!;
  }
}

/** @returns the files, or the reason why the video has none */
async function readFiles(
  transcripts: TranscriptStore,
  video: VideoRow | undefined,
  transcription: TranscriptionRow | undefined,
): Promise<ArchiveFile[] | string> {
  if (!video) return "The video was deleted.";
  if (video.uploaded_at === null) return "The upload is not complete.";
  if (!transcription) return "AI Transcription was off at upload.";
  const prefix = currentPrefix(transcription);
  if (!prefix) return REASONS[transcription.status];
  try {
    const files: ArchiveFile[] = [];
    for (const format of transcription.file_formats) {
      const content = await buffer(await transcripts.read(fileKey(prefix, format)));
      files.push({ extension: `${transcription.language}.${format}`, content });
    }
    return files;
  } catch (error) {
    if (isObjectMissing(error)) return "A transcript file is missing.";
    throw error;
  }
}

const REASONS: Record<TranscriptionRow["status"], string> = {
  PENDING: "The transcription is pending.",
  PROCESSING: "The transcription is not finished.",
  COMPLETED: "A transcript file is missing.",
  FAILED: "The transcription failed.",
  SKIPPED: "There is nothing to transcribe.",
};

function describeMissing(videoId: string, video: VideoRow | undefined, reason: string): string {
  const name = uploadedFileName(video?.metadata ?? {}) ?? "";
  return `${videoId}\t${name.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")}\t${reason}\r\n`;
}

/** Resolves when the archive has consumed the content. Rejects when the client has left. */
async function addFile(
  zip: ZipFile,
  name: string,
  content: Buffer,
  { modifiedAt, signal }: { modifiedAt: Date | null; signal: AbortSignal },
): Promise<void> {
  let stream: Readable | null = Readable.from([content], { objectMode: false });
  const consumed = once(stream, "end", { signal });
  const options = { ...(modifiedAt && { mtime: modifiedAt }), mode: 0o100644 };
  withoutBufferPool(() => zip.addReadStreamLazy(name, options, (callback) => callback(null, stream!)));
  await consumed;
  // Until it ends, the archive keeps the function of each file, and with it the content.
  stream = null;
}

/**
 * Allocates the buffers of a call outside Node's pool. An archive keeps the name of each file until it ends. In the
 * pool, a name would also keep the 64 KiB that it shares with contents and the buffers of their compression.
 */
function withoutBufferPool(call: () => void): void {
  const { poolSize } = Buffer;
  Buffer.poolSize = 0;
  try {
    call();
  } finally {
    Buffer.poolSize = poolSize;
  }
}
