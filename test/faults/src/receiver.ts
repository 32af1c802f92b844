import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type Random, seeded } from "@subtext/bench/seeded";
import { Webhook } from "standardwebhooks";

const REJECTED_SHARE = 0.2;

export interface ReceivedEvents {
  /** Ids of the accepted events, keyed by video id and event type. */
  readonly accepted: Map<string, Map<string, Set<string>>>;
  /** Invalid requests, which a customer should never receive. */
  readonly problems: string[];
  readonly requests: number;
  readonly rejected: number;
}

/** A customer's webhook receiver. It rejects some events at their first delivery. */
export class Receiver implements ReceivedEvents {
  readonly accepted = new Map<string, Map<string, Set<string>>>();
  readonly problems: string[] = [];
  requests = 0;
  rejected = 0;
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
        // The sender was killed during the request.
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
        if (isNew && this.#random() < REJECTED_SHARE) {
          this.rejected += 1;
          if (this.#random() < 0.5) response.writeHead(500).end();
          else request.socket.destroy();
          return;
        }
        const types = this.accepted.get(payload.data.videoId) ?? new Map<string, Set<string>>();
        this.accepted.set(payload.data.videoId, types);
        types.set(payload.type, (types.get(payload.type) ?? new Set()).add(id));
        response.writeHead(204).end();
      } catch (error) {
        this.problems.push(`a webhook could not be verified: ${error}`);
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
