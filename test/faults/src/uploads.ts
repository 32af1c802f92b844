import { readFile } from "node:fs/promises";
import { type SpawnedService, sleep, type Tenant } from "@subtext/bench/spawned-service";
import type { Recording } from "./recordings.ts";

const TUS = { "tus-resumable": "1.0.0" };
const PIECE = { "content-type": "application/offset+octet-stream" };
/** A client that waits longer than any fault lasts. */
const PATIENCE_MS = 240_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** A recording that the service said it has, or is on its way to. */
export interface Upload {
  videoId: string;
  recording: Recording;
  /** Deleted by its owner; `asked` until the response arrives. */
  deletion: "none" | "asked" | "done";
}

/** A customer's client: it retries requests without a response and fails on responses that no customer should get. */
export class Customer {
  readonly #service: SpawnedService;
  readonly #tenant: Tenant;
  readonly complaints: string[] = [];

  constructor(service: SpawnedService, tenant: Tenant) {
    this.#service = service;
    this.#tenant = tenant;
  }

  /** By the stock client. */
  async upload(recording: Recording): Promise<Upload> {
    const videoId = await this.#service.upload(this.#tenant, recording.path);
    return { videoId, recording, deletion: "none" };
  }

  /** Sends every chunk twice at the same time, and completion twice more. */
  async uploadTwice(recording: Recording): Promise<Upload> {
    const { videoId, content } = await this.#begin(recording);
    const half = Math.floor(content.length / 2);
    for (const end of [half, content.length]) {
      await this.#untilOffset(videoId, end, async (from) => {
        const piece = content.subarray(from, end);
        await Promise.all([this.#patch(videoId, from, piece), this.#patch(videoId, from, piece)]);
      });
    }
    const nothing = Buffer.alloc(0);
    await Promise.all([1, 2].map(() => this.#patch(videoId, content.length, nothing)));
    return { videoId, recording, deletion: "none" };
  }

  /** The second half first, which must be refused; then the first, the first again, and the second. */
  async uploadOutOfOrder(recording: Recording): Promise<Upload> {
    const { videoId, content } = await this.#begin(recording);
    const half = Math.floor(content.length / 2);
    const refusedAt = async (offset: number, piece: Buffer, what: string) => {
      const status = await this.#patch(videoId, offset, piece);
      if (status !== null && status < 400) this.complaints.push(`${videoId}: ${what} was taken (${status})`);
    };
    await refusedAt(half, content.subarray(half), "a piece from the middle of nothing");
    await this.#untilOffset(videoId, half, (from) =>
      this.#patch(videoId, from, content.subarray(from, half)),
    );
    await refusedAt(0, content.subarray(0, half), "a piece that is there already");
    await this.#untilOffset(videoId, content.length, (from) =>
      this.#patch(videoId, from, content.subarray(from)),
    );
    return { videoId, recording, deletion: "none" };
  }

  /** The first half comes; then the video is deleted while the second does. */
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
    upload.deletion = "asked";
    await this.#untilAnswered(`the deletion of ${upload.videoId}`, async () => {
      const response = await this.#send("DELETE", `/api/v1/videos/${upload.videoId}`);
      // 404: the response to an earlier request was lost.
      return response?.status === 204 || response?.status === 404 ? true : null;
    });
    upload.deletion = "done";
  }

  /** Waits until the transcription has ended or its video is gone, but no longer than that. */
  async untilEnded(videoId: string, withinMs: number): Promise<void> {
    const givesUpAt = performance.now() + withinMs;
    while (performance.now() < givesUpAt) {
      if ((await this.statusOf(`/api/v1/videos/${videoId}`)) === 404) return;
      const seen = await this.#service.read(this.#tenant, videoId);
      if (seen && seen.status !== "PENDING" && seen.status !== "PROCESSING") return;
      await sleep(100);
    }
  }

  /** Null while there is no response. */
  async statusOf(path: string): Promise<number | null> {
    return (await this.#send("GET", path))?.status ?? null;
  }

  async #begin(recording: Recording): Promise<{ videoId: string; content: Buffer }> {
    const content = await readFile(recording.path);
    const location = await this.#untilAnswered("the beginning of an upload", async () => {
      const headers = { ...TUS, "upload-length": String(content.length) };
      const response = await this.#send("POST", "/api/v1/uploads", headers);
      return response?.headers.get("location") ?? null;
    });
    return { videoId: location.split("/").at(-1) ?? "", content };
  }

  /** Asks how far it is, and sends, until the upload is so far. */
  async #untilOffset(
    videoId: string,
    offset: number,
    sendFrom: (from: number) => Promise<unknown>,
  ): Promise<void> {
    await this.#untilAnswered(`byte ${offset} of ${videoId}`, async () => {
      const head = await this.#send("HEAD", `/api/v1/uploads/${videoId}`, TUS);
      if (head?.status !== 200) return null;
      const from = Number(head.headers.get("upload-offset"));
      if (from > offset) throw new Error(`${videoId} has ${from} bytes, and only ${offset} were sent`);
      if (from === offset) return true;
      await sendFrom(from);
      return null;
    });
  }

  /** The status; null without a response. */
  async #patch(videoId: string, offset: number, piece: Buffer): Promise<number | null> {
    const headers = { ...TUS, ...PIECE, "upload-offset": String(offset) };
    return (await this.#send("PATCH", `/api/v1/uploads/${videoId}`, headers, piece))?.status ?? null;
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
        this.complaints.push(`${method} ${path} was answered ${response.status} to a good key`);
      }
      return response;
    } catch {
      return null;
    }
  }

  async #untilAnswered<T>(what: string, ask: () => Promise<T | null>): Promise<T> {
    const givesUpAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await ask();
      if (answer !== null) return answer;
      if (performance.now() > givesUpAt) throw new Error(`${what} was not had in ${PATIENCE_MS / 1000} s`);
      await sleep(300);
    }
  }
}
