import {
  type FileInput,
  readRetryPolicy,
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
  /** That the service has. */
  sentBytes: number;
  totalBytes: number;
}

export interface UploadOptions {
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
  fetch?: Fetch | undefined;
  /** Tries are counted anew whenever some of the file has arrived. */
  retry?: Partial<RetryPolicy> | undefined;
  /** The largest piece of the file in one request, where a proxy bounds them; 64 MiB unless said. */
  maxPieceBytes?: number | undefined;
  /** For each request; by default 60 s for a chunk and 30 s to ask for the offset. */
  timeoutMs?: number | undefined;
  /** True where nothing was sent to this URL before, which saves a request. */
  isNew?: boolean | undefined;
}

const FIRST_PIECE_BYTES = 1 << 20;
const MIN_PIECE_BYTES = 1 << 16;
const MAX_PIECE_BYTES = 1 << 26;
/** `fetch` tells nothing while it sends, so pieces of a few seconds are what progress is told by. */
const QUICK_PIECE_MS = 2_000;
const SLOW_PIECE_MS = 8_000;
const PIECE_TIMEOUT_MS = 60_000;
const OFFSET_TIMEOUT_MS = 30_000;
const TUS = { "tus-resumable": "1.0.0" };

/**
 * Uploads a file to the URL that `videos.create` gave, without a key, on from where an earlier upload of it
 * ended. It goes in pieces (tus 1.0), whose size follows the speed of the network; where a connection is cut,
 * the service is asked what has arrived, and the rest is sent.
 *
 * @throws SubtextError; the signal's reason where it is aborted. Either way it can be called again.
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
  const { onProgress, signal, timeoutMs, isNew = false, maxPieceBytes = MAX_PIECE_BYTES } = options;
  const retry = readRetryPolicy(options.retry);
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const totalBytes = file.size;
  // An empty file is complete once the service is asked for its offset.
  let offset = isNew && totalBytes > 0 ? 0 : null;
  let furthest = 0;
  let pieceBytes = Math.min(FIRST_PIECE_BYTES, maxPieceBytes);
  const retries = new Retries(retry, signal);
  for (;;) {
    try {
      offset ??= await askOffset(fetch, uploadUrl, file, {
        timeoutMs: timeoutMs ?? OFFSET_TIMEOUT_MS,
        signal,
      });
      if (offset > furthest) {
        furthest = offset;
        retries.reset();
      }
      onProgress?.({ sentBytes: offset, totalBytes });
      if (offset === totalBytes) return;
      const beganMs = performance.now();
      offset = await sendPiece(fetch, uploadUrl, offset, file.slice(offset, offset + pieceBytes), {
        timeoutMs: timeoutMs ?? PIECE_TIMEOUT_MS,
        signal,
      });
      const tookMs = performance.now() - beganMs;
      if (tookMs < QUICK_PIECE_MS) pieceBytes = Math.min(pieceBytes * 2, maxPieceBytes);
      else if (tookMs > SLOW_PIECE_MS) pieceBytes = halved(pieceBytes);
    } catch (error) {
      await retries.pause(error);
      offset = null;
      pieceBytes = halved(pieceBytes);
    }
  }
}

function halved(pieceBytes: number): number {
  return Math.max(Math.ceil(pieceBytes / 2), Math.min(pieceBytes, MIN_PIECE_BYTES));
}

async function askOffset(fetch: Fetch, url: string, file: Blob, limits: ExchangeOptions): Promise<number> {
  const init = { method: "HEAD", headers: TUS };
  try {
    return await exchange(fetch, url, init, limits, async (response) => {
      if (!isUploadOf(file, response.headers)) throw new SubtextError({ code: "upload_file_differs" });
      return readOffset(response, 0, file.size);
    });
  } catch (error) {
    // The answer to HEAD has no body, so the code that goes with its status is missing.
    if (!(error instanceof SubtextError) || error.status === null) throw error;
    const code = CODES_OF_HEAD[error.status];
    if (!code) throw error;
    throw new SubtextError({
      code,
      status: error.status,
      requestId: error.requestId ?? undefined,
      retryAfterMs: error.retryAfterMs ?? undefined,
      detail:
        code === "upload_url_invalid"
          ? "The upload URL was altered, or pages of this origin may not upload."
          : undefined,
      cause: error,
    });
  }
}

const CODES_OF_HEAD: Record<number, ApiErrorCode> = {
  403: "upload_url_invalid",
  404: "upload_not_found",
  410: "upload_expired",
  423: "upload_locked",
  429: "rate_limited",
};

/** Whether the upload was created for a file of this length, and of this name if both have one. */
function isUploadOf(file: Blob, headers: Headers): boolean {
  if (Number(headers.get("upload-length")) !== file.size) return false;
  const [, encoded] = /(?:^|,)\s*filename ([A-Za-z0-9+/=]+)/.exec(headers.get("upload-metadata") ?? "") ?? [];
  if (encoded === undefined || !("name" in file) || typeof file.name !== "string") return true;
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  return file.name === "" || new TextDecoder().decode(bytes) === file.name;
}

/** @returns where the upload stands after it */
async function sendPiece(
  fetch: Fetch,
  url: string,
  offset: number,
  piece: Blob,
  limits: ExchangeOptions,
): Promise<number> {
  const init = {
    method: "PATCH",
    headers: { ...TUS, "upload-offset": String(offset), "content-type": "application/offset+octet-stream" },
    body: piece,
  };
  return await exchange(fetch, url, init, limits, async (response) =>
    // A piece of which nothing was taken, again and again, would never end.
    readOffset(response, offset + 1, offset + piece.size),
  );
}

function readOffset({ headers, status }: Response, least: number, most: number): number {
  const text = headers.get("upload-offset") ?? "";
  const offset = Number(text);
  if (/^\d+$/.test(text) && offset >= least && offset <= most) return offset;
  throw new SubtextError({ code: "unexpected_response", status, detail: "No offset of the upload came." });
}
