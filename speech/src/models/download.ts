import { constants } from "node:fs";
import { open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SpeechError } from "../errors.ts";
import { parseRetryAfter } from "../lib/retry-after.ts";
import type { ContentHash } from "./content-hash.ts";
import { makeFolders, storeError } from "./file-system.ts";
import {
  ConnectionError,
  type Hub,
  type HubFile,
  type HubResponse,
  type HubTimeouts,
  requestFile,
} from "./hub.ts";

export interface DownloadRetryPolicy {
  timeouts: HubTimeouts;
  maxAttempts: number;
  /** Delay after the first failed attempt. It doubles after each further failure, up to half a minute. */
  firstDelayMs: number;
}

export const DOWNLOAD_RETRY_POLICY: DownloadRetryPolicy = {
  // At the minimum rate, the default model takes 14 hours.
  timeouts: { responseMs: 30_000, stallMs: 60_000, minBytesPerSecond: 5_000 },
  maxAttempts: 5,
  firstDelayMs: 1_000,
};

/** Expected content of a file. Fields are null if the hub does not report them. */
export interface ExpectedContent {
  bytes: number | null;
  hash: ContentHash | null;
  commit: string | null;
}

export interface DownloadContext {
  hub: Hub;
  /** Larger files are rejected. */
  maxFileBytes: number;
  retryPolicy: DownloadRetryPolicy;
  signal: AbortSignal;
}

/** The content on the hub has changed or is missing, so the partial download is useless. */
export class SourceChanged extends Error {
  override name = "SourceChanged";
}

/** The hub does not have the file. */
export class FileMissing extends SourceChanged {
  override name = "FileMissing";
}

const MAX_DELAY_MS = 30_000;
/** A failed attempt that received this much counts as progress, so downloads over unreliable connections can finish. */
const PROGRESS_BYTES = 1 << 20;

/**
 * Requests the size, hash and commit of a file.
 * @throws SourceChanged, SpeechError `model_download_failed`
 */
export async function describeFile(context: DownloadContext, file: HubFile): Promise<ExpectedContent> {
  return await retry(context, file, async () => {
    const options = { timeouts: context.retryPolicy.timeouts, signal: context.signal };
    let response = await requestFile(context.hub, file, { ...options, method: "HEAD" });
    if (response.status === 405 || response.status === 501) {
      await response.discard();
      response = await requestFile(context.hub, file, { ...options, method: "GET" });
    }
    await response.discard();
    requireSuccess(response, file, context.hub);
    if (response.bytes !== null && response.bytes > context.maxFileBytes) throw tooLarge(context, file);
    return { bytes: response.bytes, hash: response.hash, commit: response.commit };
  });
}

/**
 * Downloads a file to `path`, resuming a partial download. Checks the size, but not the hash.
 *
 * @param onBytes receives the number of bytes so far
 * @returns the size of the file
 * @throws SourceChanged, SpeechError `model_download_failed`, `model_store_failed`
 */
export async function downloadFile(
  context: DownloadContext,
  file: HubFile,
  path: string,
  expected: ExpectedContent,
  onBytes: (receivedBytes: number) => void,
): Promise<number> {
  await makeFolders(dirname(path)).catch((error) => {
    throw storeError(error, dirname(path));
  });
  let entityTag: string | null = null;
  let furthest = 0;
  return await retry(context, file, async (progress) => {
    let from = await sizeOf(path);
    // Partial content can be resumed only if a hash or an ETag verifies it.
    const isVerifiable = expected.hash !== null || entityTag !== null;
    if (!isVerifiable || (expected.bytes !== null && from > expected.bytes)) {
      await rm(path, { force: true });
      from = 0;
    }
    onBytes(from);
    furthest = Math.max(furthest, from);
    const before = furthest;
    if (from === expected.bytes) return from;
    const response = await requestFile(context.hub, file, {
      method: "GET",
      ...(from > 0 && { headers: rangeHeaders(from, expected.hash === null ? entityTag : null) }),
      timeouts: context.retryPolicy.timeouts,
      signal: context.signal,
    });
    try {
      if (response.status === 416) {
        await rm(path, { force: true });
        throw new ConnectionError("the server has less content than already received");
      }
      requireSuccess(response, file, context.hub);
      requireSame(response, expected);
      entityTag = strongTag(response);
      const start = response.status === 206 ? firstByte(response) : 0;
      if (start !== 0 && start !== from)
        throw new ConnectionError("the server returned a different range than requested");
      const received = await write(path, start, response, expected.bytes, (bytes) => {
        if (bytes > context.maxFileBytes) throw tooLarge(context, file);
        furthest = Math.max(furthest, bytes);
        progress(furthest - before);
        onBytes(bytes);
      });
      const whole = expected.bytes ?? response.bytes;
      if (whole !== null && received !== whole) throw new ConnectionError("the connection was closed early");
      return received;
    } finally {
      await response.discard();
    }
  });
}

/** Retries after a `ConnectionError`. */
async function retry<T>(
  { hub, retryPolicy, signal }: DownloadContext,
  file: HubFile,
  attempt: (progress: (newBytes: number) => void) => Promise<T>,
): Promise<T> {
  let failures = 0;
  for (;;) {
    let newBytes = 0;
    try {
      signal.throwIfAborted();
      return await attempt((bytes) => {
        newBytes = bytes;
      });
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      failures = newBytes >= PROGRESS_BYTES ? 1 : failures + 1;
      if (failures >= retryPolicy.maxAttempts) {
        throw new SpeechError(
          "model_download_failed",
          `${file.path} cannot be downloaded from ${hub.url}: ${error.message}.`,
          { cause: error },
        );
      }
      const backoff = retryPolicy.firstDelayMs * 2 ** (failures - 1);
      const retryAfter = error instanceof BusyError ? error.retryAfterMs : 0;
      await delay(Math.min(Math.max(backoff, retryAfter), MAX_DELAY_MS), undefined, { signal }).catch(() => {
        throw signal.reason;
      });
    }
  }
}

function tooLarge({ hub, maxFileBytes }: DownloadContext, { path }: HubFile): SpeechError {
  return new SpeechError(
    "model_download_failed",
    `${path} on ${hub.url} exceeds the limit of ${maxFileBytes} bytes for this model.`,
  );
}

class BusyError extends ConnectionError {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

function requireSuccess(response: HubResponse, file: HubFile, hub: Hub): void {
  const { status } = response;
  if (status === 200 || status === 206) return;
  if (status >= 500 || status === 408 || status === 429) {
    const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"), Date.now()) ?? 0;
    throw new BusyError(`the server responded with ${status}`, retryAfterMs);
  }
  if (status === 404 || status === 410) {
    throw new FileMissing(`${hub.url} has no ${file.path} in ${file.repository} (${file.revision})`);
  }
  const advice = status === 401 || status === 403 ? " If it requires a token, set MODEL_HUB_TOKEN." : "";
  throw new SpeechError(
    "model_download_failed",
    `${hub.url} responded with ${status} to the request for ${file.repository}.${advice}`,
  );
}

/** Fields that a response omits are not compared. */
function requireSame(response: HubResponse, expected: ExpectedContent): void {
  const differs =
    (response.commit ?? expected.commit) !== expected.commit ||
    (response.bytes ?? expected.bytes) !== (expected.bytes ?? response.bytes) ||
    (expected.hash !== null && (response.hash ?? expected.hash).hex !== expected.hash.hex);
  if (differs) throw new SourceChanged("the hub returns different content than it described");
}

/** @param entityTag null if a hash verifies the content, because the servers of a CDN may have different ETags */
function rangeHeaders(from: number, entityTag: string | null): Record<string, string> {
  return { range: `bytes=${from}-`, ...(entityTag !== null && { "if-range": entityTag }) };
}

function strongTag(response: HubResponse): string | null {
  const tag = response.headers.get("etag");
  return tag?.startsWith('"') ? tag : null;
}

function firstByte(response: HubResponse): number {
  const [, start] = /^bytes (\d{1,15})-/.exec(response.headers.get("content-range") ?? "") ?? [];
  return start === undefined ? -1 : Number(start);
}

async function write(
  path: string,
  start: number,
  response: HubResponse,
  expectedBytes: number | null,
  onBytes: (receivedBytes: number) => void,
): Promise<number> {
  // Symbolic links are not followed, because they could redirect the content.
  const { O_WRONLY, O_CREAT, O_NOFOLLOW } = constants;
  const handle = await open(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o644).catch((error) => {
    throw storeError(error, path);
  });
  let end = start;
  try {
    if (start === 0) await handle.truncate(0);
    for await (const piece of response.content()) {
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

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}
