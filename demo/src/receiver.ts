import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { WebhookPayload } from "@subtext/client/contract/webhook";
import { Webhook } from "standardwebhooks";

export interface ReceivedWebhook {
  id: string;
  payload: WebhookPayload;
  receivedAtMs: number;
}

/** Receives webhooks at `/webhook`, as an integrator's server would, and serves a page with the result at `/`. */
export class Receiver {
  readonly #server: Server;
  readonly #received: Promise<ReceivedWebhook>;
  #secret: string | undefined;
  #page: (() => Promise<string>) | undefined;
  #videoFile: Buffer | undefined;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<ReceivedWebhook>();
    this.#received = promise;
    this.#server = createServer(async (request, response) => {
      try {
        if (request.method === "POST" && request.url === "/webhook") {
          resolve(await this.#verify(request));
          response.writeHead(204).end();
        } else if (request.url === "/" && this.#page) {
          response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(await this.#page());
        } else if (request.url === "/sample.mp4" && this.#videoFile) {
          sendRange(request, response, this.#videoFile);
        } else {
          response.writeHead(404).end();
        }
      } catch (error) {
        console.error(`The receiver rejected a request: ${error instanceof Error ? error.message : error}`);
        response.writeHead(400).end();
      }
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  setSecret(secret: string): void {
    this.#secret = secret;
  }

  /** Resolves with the first webhook that has a valid signature. */
  get received(): Promise<ReceivedWebhook> {
    return this.#received;
  }

  show(page: () => Promise<string>, videoFile: Buffer): void {
    this.#page = page;
    this.#videoFile = videoFile;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #verify(request: IncomingMessage): Promise<ReceivedWebhook> {
    if (!this.#secret) throw new Error("a webhook arrived before its secret was set");
    const body = await text(request);
    const header = (name: string) => String(request.headers[name] ?? "");
    const payload = new Webhook(this.#secret).verify(body, {
      "webhook-id": header("webhook-id"),
      "webhook-timestamp": header("webhook-timestamp"),
      "webhook-signature": header("webhook-signature"),
    }) as WebhookPayload;
    return { id: header("webhook-id"), payload, receivedAtMs: performance.now() };
  }
}

/** Browsers need range requests to seek in a video. */
function sendRange(
  request: IncomingMessage,
  response: import("node:http").ServerResponse,
  file: Buffer,
): void {
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
  const start = Number(range?.[1] ?? 0);
  const end = Math.min(range?.[2] ? Number(range[2]) : file.length - 1, file.length - 1);
  response.writeHead(range ? 206 : 200, {
    "content-type": "video/mp4",
    "accept-ranges": "bytes",
    "content-length": end - start + 1,
    ...(range && { "content-range": `bytes ${start}-${end}/${file.length}` }),
  });
  response.end(file.subarray(start, end + 1));
}
