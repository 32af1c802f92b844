import {
  type FileInput,
  readRetryPolicy,
  requireChunkSize,
  requireDuration,
  requireHttpUrl,
  requireObject,
  requireSignal,
  toBlob,
} from "./arguments.ts";
import type { ApiErrorCode } from "./contract/api-errors.ts";
import { SubtextError } from "./errors.ts";
import { type ExchangeOptions, exchange, type Fetch } from "./exchange.ts";
import { Retries, type RetryPolicy } from "./retry.ts";

export interface UploadProgress {
  /** Bytes that the service has received. */
  sentBytes: number;
  totalBytes: number;
}

export interface UploadOptions {
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
  fetch?: Fetch | undefined;
  /** The retry count is reset whenever the upload progresses. */
  retry?: Partial<RetryPolicy> | undefined;
  /** Lower it if a proxy limits the size of requests; 64 MiB by default. */
  maxChunkBytes?: number | undefined;
  /** Timeout of each request; by default 60 s for a chunk and 30 s for the offset. */
  timeoutMs?: number | undefined;
  /** True if nothing was sent to this URL before. This saves a request for the offset. */
  isNew?: boolean | undefined;
}

const FIRST_CHUNK_BYTES = 1 << 20;
const MIN_CHUNK_BYTES = 1 << 16;
const DEFAULT_MAX_CHUNK_BYTES = 1 << 26;
/** `fetch` reports no upload progress, so a chunk should take only a few seconds. */
const FAST_CHUNK_MS = 2_000;
const SLOW_CHUNK_MS = 8_000;
const CHUNK_TIMEOUT_MS = 60_000;
const OFFSET_TIMEOUT_MS = 30_000;
const TUS = { "tus-resumable": "1.0.0" };

/**
 * Uploads a file to a URL from `videos.create`. No API key is needed. Sends tus 1.0 chunks whose size adapts to the
 * network. Resumes at the service's offset after a broken connection and when called again with the same URL.
 *
 * @throws SubtextError; the signal's reason if it is aborted
 */
export async function uploadTo(
  uploadUrl: string,
  input: FileInput,
  options: UploadOptions = {},
): Promise<void> {
  requireHttpUrl(uploadUrl, "uploadUrl");
  const file = toBlob(input);
  requireObject(options, "options");
  requireSignal(options.signal);
  requireDuration(options.timeoutMs, "timeoutMs");
  requireChunkSize(options.maxChunkBytes);
  const { onProgress, signal, timeoutMs, isNew = false, maxChunkBytes = DEFAULT_MAX_CHUNK_BYTES } = options;
  const retry = readRetryPolicy(options.retry);
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const totalBytes = file.size;
  // For an empty file, the request for the offset completes the upload.
  let offset = isNew && totalBytes > 0 ? 0 : null;
  let furthest = 0;
  let chunkBytes = Math.min(FIRST_CHUNK_BYTES, maxChunkBytes);
  const retries = new Retries(retry, signal);
  for (;;) {
    try {
      offset ??= await fetchOffset(fetch, uploadUrl, file, {
        timeoutMs: timeoutMs ?? OFFSET_TIMEOUT_MS,
        signal,
      });
      if (offset > furthest) {
        furthest = offset;
        retries.reset();
      }
      onProgress?.({ sentBytes: offset, totalBytes });
      if (offset === totalBytes) return;
      const startMs = performance.now();
      offset = await sendChunk(fetch, uploadUrl, offset, file.slice(offset, offset + chunkBytes), {
        timeoutMs: timeoutMs ?? CHUNK_TIMEOUT_MS,
        signal,
      });
      const durationMs = performance.now() - startMs;
      if (durationMs < FAST_CHUNK_MS) chunkBytes = Math.min(chunkBytes * 2, maxChunkBytes);
      else if (durationMs > SLOW_CHUNK_MS) chunkBytes = halved(chunkBytes);
    } catch (error) {
      await retries.pause(error);
      offset = null;
      chunkBytes = halved(chunkBytes);
    }
  }
}

function halved(chunkBytes: number): number {
  return Math.max(Math.ceil(chunkBytes / 2), Math.min(chunkBytes, MIN_CHUNK_BYTES));
}

async function fetchOffset(fetch: Fetch, url: string, file: Blob, limits: ExchangeOptions): Promise<number> {
  const init = { method: "HEAD", headers: TUS };
  try {
    return await exchange(fetch, url, init, limits, async (response) => {
      if (!isUploadOf(file, response.headers)) throw new SubtextError({ code: "upload_file_differs" });
      return readOffset(response, 0, file.size);
    });
  } catch (error) {
    // A HEAD response has no body, so the code is derived from its status.
    if (!(error instanceof SubtextError) || error.status === null) throw error;
    const code = HEAD_ERROR_CODES[error.status];
    if (!code) throw error;
    throw new SubtextError({
      code,
      status: error.status,
      requestId: error.requestId ?? undefined,
      retryAfterMs: error.retryAfterMs ?? undefined,
      detail:
        code === "upload_url_invalid"
          ? "The upload URL is invalid, or pages of this origin may not upload."
          : undefined,
      cause: error,
    });
  }
}

const HEAD_ERROR_CODES: Record<number, ApiErrorCode> = {
  403: "upload_url_invalid",
  404: "upload_not_found",
  410: "upload_expired",
  423: "upload_locked",
  429: "rate_limited",
};

/** Returns whether the upload and the file have the same size and, if both have a name, the same name. */
function isUploadOf(file: Blob, headers: Headers): boolean {
  if (Number(headers.get("upload-length")) !== file.size) return false;
  const [, encoded] = /(?:^|,)\s*filename ([A-Za-z0-9+/=]+)/.exec(headers.get("upload-metadata") ?? "") ?? [];
  if (encoded === undefined || !("name" in file) || typeof file.name !== "string") return true;
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  return file.name === "" || new TextDecoder().decode(bytes) === file.name;
}

/** @returns the offset after the chunk */
async function sendChunk(
  fetch: Fetch,
  url: string,
  offset: number,
  chunk: Blob,
  limits: ExchangeOptions,
): Promise<number> {
  const init = {
    method: "PATCH",
    headers: { ...TUS, "upload-offset": String(offset), "content-type": "application/offset+octet-stream" },
    body: chunk,
  };
  return await exchange(fetch, url, init, limits, async (response) =>
    // A response that accepts no bytes is an error; otherwise the caller would loop forever.
    readOffset(response, offset + 1, offset + chunk.size),
  );
}

function readOffset({ headers, status }: Response, least: number, most: number): number {
  const text = headers.get("upload-offset") ?? "";
  const offset = Number(text);
  if (/^\d+$/.test(text) && offset >= least && offset <= most) return offset;
  throw new SubtextError({
    code: "unexpected_response",
    status,
    detail: "The response has no valid Upload-Offset.",
  });
}
