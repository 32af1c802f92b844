import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Pacer } from "../src/pacer.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const limit = (remaining: number) =>
  new Headers({
    "ratelimit-policy": `"per-key";q=60;w=6`,
    ratelimit: `"per-key";r=${remaining};t=1`,
  });

/**
 * Returns a pacer that has observed one response, and the names of its requests in the order in which it sends them.
 */
async function paceAfter(remaining: number | null) {
  const pacer = new Pacer();
  await pacer.begin({});
  pacer.observe(remaining === null ? new Headers() : limit(remaining));
  pacer.end();
  const sent: string[] = [];
  const request = (name: string, turn = {}) => void pacer.begin(turn).then(() => sent.push(name));
  return { pacer, sent, request };
}

describe("a pacer", () => {
  test("sends eight requests at a time until a response reports the limit", async () => {
    const pacer = new Pacer();
    let sent = 0;
    for (let count = 0; count < 100; count++) void pacer.begin({}).then(() => (sent += 1));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent).toBe(8);
    pacer.observe(limit(59));
    await vi.advanceTimersByTimeAsync(0);
    // 59 requests remain, but each of the seven others in flight may use one of them.
    expect(sent).toBe(8 + 52);
  });

  test("sends as many requests as remain, then one for each refilled token", async () => {
    const { sent, request } = await paceAfter(2);
    for (let count = 0; count < 10; count++) request("one");
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(300);
    expect(sent).toHaveLength(5);
  });

  test("never delays requests to a service that reports no limit", async () => {
    const { sent, request } = await paceAfter(null);
    for (let count = 0; count < 100; count++) request("one");
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toHaveLength(100);
  });

  test("leaves half of the quota to other requests when it sends background requests", async () => {
    const { sent, request } = await paceAfter(32);
    for (let count = 0; count < 5; count++) request("poll", { isBackground: true });
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toEqual(["poll", "poll"]);
    request("other");
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toEqual(["poll", "poll", "other"]);
  });

  test("does not let background requests starve", async () => {
    const { sent, request } = await paceAfter(0);
    request("poll", { isBackground: true });
    for (let count = 0; count < 200; count++) request("other");
    await vi.advanceTimersByTimeAsync(9_900);
    expect(sent).not.toContain("poll");
    await vi.advanceTimersByTimeAsync(300);
    expect(sent).toContain("poll");
  });

  test("drops a request that is aborted while it waits", async () => {
    const { pacer, sent, request } = await paceAfter(0);
    const controller = new AbortController();
    const waiting = pacer.begin({ signal: controller.signal });
    request("next");
    controller.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    await vi.advanceTimersByTimeAsync(100);
    expect(sent).toEqual(["next"]);
  });

  test("applies the strictest of several limits", async () => {
    const pacer = new Pacer();
    await pacer.begin({});
    pacer.observe(
      new Headers({
        "ratelimit-policy": `"per-address";q=100;w=1, "per-key";q=60;w=6`,
        ratelimit: `"per-address";r=90;t=1, "per-key";r=1;t=6`,
      }),
    );
    pacer.end();
    let sent = 0;
    for (let count = 0; count < 10; count++) void pacer.begin({}).then(() => (sent += 1));
    await vi.advanceTimersByTimeAsync(100);
    expect(sent).toBe(2);
  });
});
