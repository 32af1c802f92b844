import { onTestFinished, vi } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { createEndpointPolicy, type ResolveHost } from "../../src/webhooks/guard-url.ts";
import { type AttemptOutcome, postWebhook, type WebhookPost } from "../../src/webhooks/post.ts";
import { createHostResolver } from "../../src/webhooks/resolve-host.ts";
import type { Receiver } from "./webhook-receivers.ts";

export const strictPolicy = createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: [] });
const loopbackPolicy = createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: ["127.0.0.1/32"] });

export function closeAfterTest<R extends { close(): Promise<void> }>(receiver: R): R {
  onTestFinished(() => receiver.close());
  return receiver;
}

/** Sends one webhook. By default, its policy allows 127.0.0.1. */
export function post(url: URL | string, options: Partial<WebhookPost> = {}): Promise<AttemptOutcome> {
  return postWebhook({
    url: new URL(url),
    headers: { "webhook-id": "event_1" },
    body: '{"type":"test"}',
    timeoutMs: 20_000,
    policy: loopbackPolicy,
    resolve: createHostResolver(),
    version: "1.2.3",
    clock: systemClock,
    signal: new AbortController().signal,
    ...options,
  });
}

/** Creates a resolver that returns the given answers in turn, then repeats the last one. */
export function fakeResolver(...answers: string[][]): { resolve: ResolveHost; callCount: () => number } {
  let calls = 0;
  const resolve: ResolveHost = async () => {
    const answer = answers[Math.min(calls, answers.length - 1)]!;
    calls += 1;
    return answer.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  return { resolve, callCount: () => calls };
}

export async function untilDisconnected(receiver: Receiver): Promise<void> {
  await vi.waitFor(() => {
    if (receiver.open.size > 0) throw new Error("the connection is still open");
  }, 10_000);
}
