import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { SpawnedService, Tenant } from "@subtext/bench/spawned-service";
import type { Recording } from "./recordings.ts";

const TUS = { "tus-resumable": "1.0.0" };
const CHUNK_HEADERS = { "content-type": "application/offset+octet-stream" };
/** Longer than any fault lasts. */
const RETRY_FOR_MS = 240_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** A recording that the service has accepted or is receiving. */
export interface Upload {
  videoId: string;
  recording: Recording;
  /** Whether the owner has deleted the video; `requested` until the response arrives. */
  deletion: "none" | "requested" | "done";
}

/**
 * A customer's client. It retries requests without a response and records responses that a customer should never get.
 */
export class Customer {
  readonly #service: SpawnedService;
  readonly #tenant: Tenant;
  readonly problems: string[] = [];

  constructor(service: SpawnedService, tenant: Tenant) {
    this.#service = service;
    this.#tenant = tenant;
  }

  async upload(recording: Recording): Promise<Upload> {
    const videoId = await this.#service.upload(this.#tenant, recording.path);
    return { videoId, recording, deletion: "none" };
  }

  /** Sends every chunk twice concurrently, then two empty PATCH requests to the complete upload. */
  async uploadTwice(recording: Recording): Promise<Upload> {
    const { videoId, content } = await this.#begin(recording);
    const half = Math.floor(content.length / 2);
    for (const end of [half, content.length]) {
      await this.#untilOffset(videoId, end, async (from) => {
        const chunk = content.subarray(from, end);
        await Promise.all([this.#patch(videoId, from, chunk), this.#patch(videoId, from, chunk)]);
      });
    }
    const nothing = Buffer.alloc(0);
    await Promise.all([1, 2].map(() => this.#patch(videoId, content.length, nothing)));
    return { videoId, recording, deletion: "none" };
  }

  /** Sends the second half first, and the first half twice. The service must reject chunks at a wrong offset. */
  async uploadOutOfOrder(recording: Recording): Promise<Upload> {
    const { videoId, content } = await this.#begin(recording);
    const half = Math.floor(content.length / 2);
    const expectRejection = async (offset: number, chunk: Buffer, what: string) => {
      const status = await this.#patch(videoId, offset, chunk);
      if (status !== null && status < 400) this.problems.push(`${videoId}: ${what} was accepted (${status})`);
    };
    await expectRejection(half, content.subarray(half), "a chunk after the current offset");
    await this.#untilOffset(videoId, half, (from) =>
      this.#patch(videoId, from, content.subarray(from, half)),
    );
    await expectRejection(0, content.subarray(0, half), "a chunk before the current offset");
    await this.#untilOffset(videoId, content.length, (from) =>
      this.#patch(videoId, from, content.subarray(from)),
    );
    return { videoId, recording, deletion: "none" };
  }

  /** Uploads the first half, then deletes the video while uploading the second half. */
  async uploadAndDelete(recording: Recording): Promise<Upload> {
    const { videoId, content } = await this.#begin(recording);
    const half = Math.floor(content.length / 2);
    await this.#untilOffset(videoId, half, (from) =>
      this.#patch(videoId, from, content.subarray(from, half)),
    );
    const upload: Upload = { videoId, recording, deletion: "none" };
    await Promise.all([this.#patch(videoId, half, content.subarray(half)), this.delete(upload)]);
    return upload;
  }

  async delete(upload: Upload): Promise<void> {
    upload.deletion = "requested";
    await this.#untilAnswered(`the deletion of ${upload.videoId}`, async () => {
      const response = await this.#send("DELETE", `/api/v1/videos/${upload.videoId}`);
      // 404: the response to an earlier request was lost.
      return response?.status === 204 || response?.status === 404 ? true : null;
    });
    upload.deletion = "done";
  }

  /** Waits until the transcription has ended, its video is deleted, or the timeout has passed. */
  async untilEnded(videoId: string, timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (performance.now() < deadline) {
      if ((await this.statusOf(`/api/v1/videos/${videoId}`)) === 404) return;
      const seen = await this.#service.read(this.#tenant, videoId);
      if (seen && seen.status !== "PENDING" && seen.status !== "PROCESSING") return;
      await sleep(100);
    }
  }

  /** Returns null without a response. */
  async statusOf(path: string): Promise<number | null> {
    return (await this.#send("GET", path))?.status ?? null;
  }

  async #begin(recording: Recording): Promise<{ videoId: string; content: Buffer }> {
    const content = await readFile(recording.path);
    const location = await this.#untilAnswered("the creation of an upload", async () => {
      const headers = { ...TUS, "upload-length": String(content.length) };
      const response = await this.#send("POST", "/api/v1/uploads", headers);
      return response?.headers.get("location") ?? null;
    });
    return { videoId: location.split("/").at(-1) ?? "", content };
  }

  /** Calls `sendFrom` with the upload's current offset until the upload reaches `offset`. */
  async #untilOffset(
    videoId: string,
    offset: number,
    sendFrom: (from: number) => Promise<unknown>,
  ): Promise<void> {
    await this.#untilAnswered(`byte ${offset} of ${videoId}`, async () => {
      const head = await this.#send("HEAD", `/api/v1/uploads/${videoId}`, TUS);
      if (head?.status !== 200) return null;
      const from = Number(head.headers.get("upload-offset"));
      if (from > offset) throw new Error(`${videoId} has ${from} bytes, but only ${offset} were sent`);
      if (from === offset) return true;
      await sendFrom(from);
      return null;
    });
  }

  /** Returns null without a response. */
  async #patch(videoId: string, offset: number, chunk: Buffer): Promise<number | null> {
    const headers = { ...TUS, ...CHUNK_HEADERS, "upload-offset": String(offset) };
    return (await this.#send("PATCH", `/api/v1/uploads/${videoId}`, headers, chunk))?.status ?? null;
  }

  async #send(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: Buffer,
  ): Promise<Response | null> {
    try {
      const response = await fetch(`${this.#service.url}${path}`, {
        method,
        headers: { ...headers, authorization: `Bearer ${this.#tenant.key}` },
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
        ...(body && { body: new Uint8Array(body) }),
      });
      await response.arrayBuffer();
      if (response.status === 401 || response.status === 403) {
        this.problems.push(`${method} ${path} returned ${response.status} for a valid key`);
      }
      return response;
    } catch {
      return null;
    }
  }

  async #untilAnswered<T>(what: string, request: () => Promise<T | null>): Promise<T> {
    const deadline = performance.now() + RETRY_FOR_MS;
    for (;;) {
      const result = await request();
      if (result !== null) return result;
      if (performance.now() > deadline)
        throw new Error(`${what} did not succeed within ${RETRY_FOR_MS / 1000} s`);
      await sleep(300);
    }
  }
}
