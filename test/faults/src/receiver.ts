import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { type Random, seeded } from "./seeded.ts";

/** Of the events that come for the first time, how many meet a receiver that has a bad moment. */
const BAD_SHARE = 0.2;

export interface ReceivedEvents {
  /** By the video's id and then by the type, the ids of the events that were taken. */
  readonly taken: Map<string, Map<string, Set<string>>>;
  /** Requests that no customer should ever see. */
  readonly complaints: string[];
  readonly requests: number;
  readonly refused: number;
}

/** A customer's webhook receiver, which at times refuses, breaks off or dawdles when an event first comes. */
export class Receiver implements ReceivedEvents {
  readonly taken = new Map<string, Map<string, Set<string>>>();
  readonly complaints: string[] = [];
  requests = 0;
  refused = 0;
  readonly #server: Server;
  readonly #random: Random;
  readonly #seen = new Set<string>();
  #verifier: Webhook | null = null;

  private constructor(seed: number) {
    this.#random = seeded(seed);
    this.#server = createServer(async (request, response) => {
      const header = (name: string) => String(request.headers[name] ?? "");
      const id = header("webhook-id");
      this.requests += 1;
      let body: string;
      try {
        body = await text(request);
      } catch {
        // The sender was killed in the middle.
        return;
      }
      try {
        const payload = this.#verifier?.verify(body, {
          "webhook-id": id,
          "webhook-timestamp": header("webhook-timestamp"),
          "webhook-signature": header("webhook-signature"),
        }) as { type: string; data: { videoId: string } };
        const isNew = !this.#seen.has(id);
        this.#seen.add(id);
        if (isNew && this.#random() < BAD_SHARE) {
          this.refused += 1;
          if (this.#random() < 0.5) response.writeHead(500).end();
          else request.socket.destroy();
          return;
        }
        const types = this.taken.get(payload.data.videoId) ?? new Map<string, Set<string>>();
        this.taken.set(payload.data.videoId, types);
        types.set(payload.type, (types.get(payload.type) ?? new Set()).add(id));
        response.writeHead(204).end();
      } catch (error) {
        this.complaints.push(`a webhook could not be verified: ${error}`);
        response.writeHead(400).end();
      }
    });
  }

  static async start(seed: number): Promise<Receiver> {
    const receiver = new Receiver(seed);
    await new Promise<void>((done) => receiver.#server.listen(0, "127.0.0.1", done));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  trust(secret: string): void {
    this.#verifier = new Webhook(secret);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
