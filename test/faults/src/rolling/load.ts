import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import * as tus from "tus-js-client";

const READ_TIMEOUT_MS = 60_000;

export interface Reads {
  requests: number;
  /** Responses other than 2xx, and errors. */
  failures: string[];
  longestMs: number;
}

export interface Uploads {
  videoIds: string[];
  failures: string[];
  /** Number of failed requests that tus-js-client retried. */
  resumed: number;
}

/** Sends read requests one after another over a keep-alive connection until the signal aborts. */
export async function keepReading(
  { url, key, pauseMs, videoIds }: { url: string; key: string; pauseMs: number; videoIds: readonly string[] },
  reads: Reads,
  signal: AbortSignal,
): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  for (let turn = 0; !signal.aborted; turn++) {
    const video = videoIds.at(turn % Math.max(1, videoIds.length));
    const path = [`/videos`, `/videos/${video}`, `/videos/${video}/transcription`][video ? turn % 3 : 0];
    const begin = performance.now();
    try {
      const response = await fetch(`${url}/api/v1${path}`, {
        headers,
        signal: AbortSignal.timeout(READ_TIMEOUT_MS),
      });
      const body = await response.text();
      if (!response.ok) reads.failures.push(`GET ${path}: ${response.status} ${body}`);
    } catch (error) {
      const { cause } = error as Error;
      reads.failures.push(`GET ${path}: ${cause instanceof Error ? cause.message : error}`);
    }
    reads.requests += 1;
    reads.longestMs = Math.max(reads.longestMs, performance.now() - begin);
    await sleep(pauseMs);
  }
}

/** Uploads the file repeatedly with tus-js-client and its default settings until the signal aborts. */
export async function keepUploading(
  { url, key, pauseMs, path }: { url: string; key: string; pauseMs: number; path: string },
  uploads: Uploads,
  signal: AbortSignal,
): Promise<void> {
  const { size } = await stat(path);
  while (!signal.aborted) {
    await new Promise<void>((done) => {
      const upload = new tus.Upload(createReadStream(path), {
        endpoint: `${url}/api/v1/uploads`,
        headers: { authorization: `Bearer ${key}` },
        uploadSize: size,
        chunkSize: 16 * 1024 ** 2,
        onShouldRetry: () => {
          uploads.resumed += 1;
          return true;
        },
        onError: (error) => {
          uploads.failures.push(error.message);
          done();
        },
        onSuccess: () => {
          uploads.videoIds.push(upload.url?.split("/").at(-1) ?? "");
          done();
        },
      });
      upload.start();
    });
    await sleep(pauseMs);
  }
}
