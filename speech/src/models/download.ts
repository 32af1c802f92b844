import { constants } from "node:fs";
import { open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SpeechError } from "../errors.ts";
import type { ContentHash } from "./content-hash.ts";
import { makeFolders, storeError } from "./file-system.ts";
import { askHub, ConnectionError, type Hub, type HubAnswer, type HubFile, type HubTimeouts } from "./hub.ts";

export interface Persistence {
  timeouts: HubTimeouts;
  /** Consecutive attempts without progress before a download is given up. */
  tries: number;
  /** Delay after the first failed attempt, milliseconds; doubled after each further one, up to half a minute. */
  firstDelayMs: number;
}

export const PERSISTENCE: Persistence = {
  // At that rate the default model takes 14 hours.
  timeouts: { answerMs: 30_000, stallMs: 60_000, leastBytesPerSecond: 5_000 },
  tries: 5,
  firstDelayMs: 1_000,
};

/** Expected content of a file; each field is null if the hub does not state it. */
export interface ExpectedContent {
  bytes: number | null;
  hash: ContentHash | null;
  commit: string | null;
}

export interface DownloadContext {
  hub: Hub;
  /** Upper limit for file sizes, whatever the hub states or sends. */
  maxFileBytes: number;
  persistence: Persistence;
  signal: AbortSignal;
}

/** The hub returns different content or none for a commit that it served before, so the partial download is useless. */
export class SourceChanged extends Error {
  override name = "SourceMoved";
}

const MAX_DELAY_MS = 30_000;
/**
 * An attempt that receives this much counts as progress, however it ends: a bad connection succeeds
 * eventually, a dead one is given up.
 */
const PROGRESS_BYTES = 1 << 20;

/**
 * Asks the hub for the description of a file.
 * @throws SourceChanged, SpeechError `model_download_failed`
 */
export async function describeFile(context: DownloadContext, file: HubFile): Promise<ExpectedContent> {
  return await persist(context, file, async () => {
    const options = { timeouts: context.persistence.timeouts, signal: context.signal };
    let answer = await askHub(context.hub, file, { ...options, method: "HEAD" });
    if (answer.status === 405 || answer.status === 501) {
      await answer.discard();
      answer = await askHub(context.hub, file, { ...options, method: "GET" });
    }
    await answer.discard();
    requireSuccess(answer, file, context.hub);
    if (answer.bytes !== null && answer.bytes > context.maxFileBytes) throw tooLarge(context, file);
    return { bytes: answer.bytes, hash: answer.hash, commit: answer.commit };
  });
}

/**
 * Downloads a file and resumes a partial download at `path`. Checks the size, but not the hash.
 *
 * @param onBytes called with the bytes received so far
 * @returns the file's size
 * @throws SourceChanged, SpeechError `model_download_failed`, `model_store_failed`
 */
export async function downloadFile(
  context: DownloadContext,
  file: HubFile,
  path: string,
  expected: ExpectedContent,
  onBytes: (arrivedBytes: number) => void,
): Promise<number> {
  await makeFolders(dirname(path)).catch((error) => {
    throw storeError(error, dirname(path));
  });
  let entityTag: string | null = null;
  let furthest = 0;
  return await persist(context, file, async (progress) => {
    let from = await sizeOf(path);
    // Without a hash only the server can tell whether the partial content is still valid.
    const checkable = expected.hash !== null || entityTag !== null;
    if (!checkable || (expected.bytes !== null && from > expected.bytes)) {
      await rm(path, { force: true });
      from = 0;
    }
    onBytes(from);
    furthest = Math.max(furthest, from);
    const before = furthest;
    if (from === expected.bytes) return from;
    const answer = await askHub(context.hub, file, {
      method: "GET",
      ...(from > 0 && { headers: rangeHeaders(from, expected.hash === null ? entityTag : null) }),
      timeouts: context.persistence.timeouts,
      signal: context.signal,
    });
    try {
      if (answer.status === 416) {
        await rm(path, { force: true });
        throw new ConnectionError("the server has less content than was already received");
      }
      requireSuccess(answer, file, context.hub);
      requireSame(answer, expected);
      entityTag = strongTag(answer);
      const start = answer.status === 206 ? firstByte(answer) : 0;
      if (start !== 0 && start !== from)
        throw new ConnectionError("the server returned a different range than requested");
      const arrived = await write(path, start, answer, expected.bytes, (bytes) => {
        if (bytes > context.maxFileBytes) throw tooLarge(context, file);
        furthest = Math.max(furthest, bytes);
        progress(furthest - before);
        onBytes(bytes);
      });
      const whole = expected.bytes ?? answer.bytes;
      if (whole !== null && arrived !== whole) throw new ConnectionError("the connection ended early");
      return arrived;
    } finally {
      await answer.discard();
    }
  });
}

/** Retries only errors of the connection or the server. */
async function persist<T>(
  { hub, persistence, signal }: DownloadContext,
  file: HubFile,
  attempt: (progress: (newBytes: number) => void) => Promise<T>,
): Promise<T> {
  let fruitless = 0;
  for (;;) {
    let newBytes = 0;
    try {
      signal.throwIfAborted();
      return await attempt((bytes) => {
        newBytes = bytes;
      });
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      fruitless = newBytes >= PROGRESS_BYTES ? 1 : fruitless + 1;
      if (fruitless >= persistence.tries) {
        throw new SpeechError(
          "model_download_failed",
          `${file.path} cannot be downloaded from ${hub.url}: ${error.message}.`,
          { cause: error },
        );
      }
      const backoff = persistence.firstDelayMs * 2 ** (fruitless - 1);
      const asked = error instanceof BusyError ? error.retryAfterMs : 0;
      await delay(Math.min(Math.max(backoff, asked), MAX_DELAY_MS), undefined, { signal }).catch(() => {
        throw signal.reason;
      });
    }
  }
}

function tooLarge({ hub, maxFileBytes }: DownloadContext, { path }: HubFile): SpeechError {
  return new SpeechError(
    "model_download_failed",
    `${hub.url} gives for ${path} more than ${maxFileBytes} bytes: no such model is that large.`,
  );
}

class BusyError extends ConnectionError {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

function requireSuccess(answer: HubAnswer, file: HubFile, hub: Hub): void {
  const { status } = answer;
  if (status === 200 || status === 206) return;
  if (status >= 500 || status === 408 || status === 429) {
    const seconds = Number(answer.headers.get("retry-after") ?? 0);
    throw new BusyError(`the server answered ${status}`, Number.isFinite(seconds) ? seconds * 1000 : 0);
  }
  if (status === 404 || status === 410) {
    throw new SourceChanged(`${hub.url} has no ${file.path} in ${file.repository} (${file.revision})`);
  }
  const advice = status === 401 || status === 403 ? " If it requires a token, set MODEL_HUB_TOKEN." : "";
  throw new SpeechError(
    "model_download_failed",
    `${hub.url} answered ${status} to the request for ${file.repository}.${advice}`,
  );
}

/** Checks that the content is as described before. Fields that a response omits are not compared. */
function requireSame(answer: HubAnswer, expected: ExpectedContent): void {
  const differs =
    (answer.commit ?? expected.commit) !== expected.commit ||
    (answer.bytes ?? expected.bytes) !== (expected.bytes ?? answer.bytes) ||
    (expected.hash !== null && (answer.hash ?? expected.hash).hex !== expected.hash.hex);
  if (differs) throw new SourceChanged("the hub returns different content than it described");
}

/** With a hash the complete content is checked instead: CDNs have a different tag for each of their servers. */
function rangeHeaders(from: number, entityTag: string | null): Record<string, string> {
  return { range: `bytes=${from}-`, ...(entityTag !== null && { "if-range": entityTag }) };
}

function strongTag(answer: HubAnswer): string | null {
  const tag = answer.headers.get("etag");
  return tag?.startsWith('"') ? tag : null;
}

function firstByte(answer: HubAnswer): number {
  const [, start] = /^bytes (\d{1,15})-/.exec(answer.headers.get("content-range") ?? "") ?? [];
  return start === undefined ? -1 : Number(start);
}

async function write(
  path: string,
  start: number,
  answer: HubAnswer,
  expectedBytes: number | null,
  onBytes: (arrivedBytes: number) => void,
): Promise<number> {
  // Symbolic links are not followed: they could redirect the content.
  const { O_WRONLY, O_CREAT, O_NOFOLLOW } = constants;
  const handle = await open(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o644).catch((error) => {
    throw storeError(error, path);
  });
  let end = start;
  try {
    if (start === 0) await handle.truncate(0);
    for await (const piece of answer.content()) {
      if (expectedBytes !== null && end + piece.byteLength > expectedBytes) {
        throw new SourceChanged("the hub returns more content than it described");
      }
      await writeAll(handle, piece, end, path);
      end += piece.byteLength;
      onBytes(end);
    }
    await handle.sync();
    return end;
  } finally {
    await handle.close();
  }
}

async function writeAll(
  handle: Awaited<ReturnType<typeof open>>,
  piece: Uint8Array,
  position: number,
  path: string,
): Promise<void> {
  try {
    for (let written = 0; written < piece.byteLength; ) {
      const { bytesWritten } = await handle.write(
        piece,
        written,
        piece.byteLength - written,
        position + written,
      );
      written += bytesWritten;
    }
  } catch (error) {
    throw storeError(error, path);
  }
}

/** Returns 0 if there is no file. */
async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}
