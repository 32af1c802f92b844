import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { WebhookPayload } from "@subtext/client/contract/webhook";
import { Webhook } from "standardwebhooks";
import { onTestFinished, vi } from "vitest";
import { type Clock, systemClock } from "../../src/lib/clock.ts";

interface Received {
  id: string;
  payload: WebhookPayload;
}

export interface VerifyingReceiver {
  url: string;
  /** Webhooks with a valid signature, in order. */
  received: Received[];
  /** Statuses of the next responses; 204 after the last one. */
  answers: number[];
  /** Runs before the response is sent. */
  beforeAnswer: () => Promise<void>;
  trust(secret: string): void;
}

/**
 * Starts a customer's receiver, which verifies signatures.
 * @param clock the clock of the service, for verifying timestamps
 */
export async function startVerifyingReceiver(clock: Clock = systemClock): Promise<VerifyingReceiver> {
  let verifier: Webhook | undefined;
  const receiver: VerifyingReceiver = {
    url: "",
    received: [],
    answers: [],
    beforeAnswer: async () => {},
    trust(secret) {
      verifier = new Webhook(secret);
    },
  };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const header = (name: string) => String(request.headers[name] ?? "");
    try {
      if (!verifier) throw new Error("no secret yet");
      vi.useFakeTimers({ toFake: ["Date"], now: clock.now() });
      const payload = verifier.verify(body, {
        "webhook-id": header("webhook-id"),
        "webhook-timestamp": header("webhook-timestamp"),
        "webhook-signature": header("webhook-signature"),
      }) as WebhookPayload;
      vi.useRealTimers();
      receiver.received.push({ id: header("webhook-id"), payload });
      await receiver.beforeAnswer();
      response.writeHead(receiver.answers.shift() ?? 204).end("noted");
    } catch {
      response.writeHead(401).end();
    } finally {
      vi.useRealTimers();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return receiver;
}
