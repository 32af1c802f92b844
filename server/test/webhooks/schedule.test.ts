import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AttemptOutcome } from "../../src/webhooks/post.ts";
import {
  ATTEMPT_DELAYS_MS,
  type FinishedAttempt,
  isDelivered,
  nextAttempt,
  shouldDisable,
} from "../../src/webhooks/schedule.ts";

const start = new Date("2026-03-04T05:06:07.000Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const answered = (status: number, retryAfterSeconds: number | null = null): AttemptOutcome => ({
  kind: "response",
  status,
  latencyMs: 5,
  retryAfterMs: retryAfterSeconds === null ? null : retryAfterSeconds * 1000,
  bodyStart: "",
});
const unreached: AttemptOutcome = { kind: "failed", reason: "connection", message: "", latencyMs: 5 };

const after = (outcome: AttemptOutcome, options: Partial<FinishedAttempt> = {}) =>
  nextAttempt({ attempt: 1, now: start, random: 0, firstAttemptAt: start, dueAt: null, outcome, ...options });

const outcomes = fc.oneof(
  fc
    .tuple(fc.integer({ min: 100, max: 599 }), fc.option(fc.nat()))
    .map(([status, seconds]) => answered(status, seconds)),
  fc
    .constantFrom("timeout", "refused_address", "dns", "connection", "tls", "protocol")
    .map((reason): AttemptOutcome => ({ kind: "failed", reason, message: "", latencyMs: 1 })),
);
const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("a delivery", () => {
  it("succeeds with any 2xx and with nothing else", () => {
    fc.assert(
      fc.property(outcomes, (outcome) => {
        const accepted = outcome.kind === "response" && Math.floor(outcome.status / 100) === 2;
        expect(isDelivered(outcome)).toBe(accepted);
        expect(after(outcome).kind === "delivered").toBe(accepted);
      }),
    );
  });

  it("is retried after each delay of the schedule, then fails permanently", () => {
    let now = start;
    const waits = [0];
    for (let attempt = 1; ; attempt += 1) {
      const next = after(unreached, { attempt, now });
      if (next.kind !== "retry") {
        expect(next).toEqual({ kind: "give_up" });
        break;
      }
      waits.push(next.at.getTime() - now.getTime());
      now = next.at;
    }
    expect(waits).toEqual(ATTEMPT_DELAYS_MS);
  });

  it("is retried after the delays that the documentation names", () => {
    const text = readFileSync("docs/api.md", "utf8").replace(/\s+/g, " ");
    const delays = ATTEMPT_DELAYS_MS.slice(1).map((delay) => {
      if (delay < MINUTE) return `${delay / 1000} s`;
      return delay < HOUR ? `${delay / MINUTE} min` : `${delay / HOUR} h`;
    });
    const list = new Intl.ListFormat("en-GB").format(delays);
    expect(/deliveries are retried ([^.]+ h) after the previous attempt/.exec(text)?.[1]).toBe(list);
  });

  it("adds a random delay of at most a tenth", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), randoms, (attempt, random) => {
        const next = after(unreached, { attempt, random });
        if (next.kind !== "retry") throw new Error(next.kind);
        const wait = next.at.getTime() - start.getTime();
        expect(wait).toBeGreaterThanOrEqual(ATTEMPT_DELAYS_MS[attempt]!);
        expect(wait).toBeLessThanOrEqual(ATTEMPT_DELAYS_MS[attempt]! * 1.1 + 1);
      }),
    );
  });

  it("waits for Retry-After if that is longer than the schedule", () => {
    const retryAt = (seconds: number) => after(answered(429, seconds), { attempt: 3 });
    expect(retryAt(3600)).toEqual({ kind: "retry", at: new Date(start.getTime() + HOUR) });
    expect(retryAt(1)).toEqual({ kind: "retry", at: new Date(start.getTime() + 300_000) });
    expect(after(answered(503, 60))).toEqual({ kind: "retry", at: new Date(start.getTime() + 60_000) });
  });

  it("waits at most a day, even if the receiver requests more", () => {
    for (const seconds of [86_401, 1e9, Number.MAX_SAFE_INTEGER]) {
      expect(after(answered(429, seconds))).toEqual({ kind: "retry", at: new Date(start.getTime() + DAY) });
    }
  });

  it("fails permanently if the next attempt would be more than five days after the first", () => {
    const now = new Date(start.getTime() + 4 * DAY);
    expect(after(answered(429, 86_400), { attempt: 4, now })).toEqual({
      kind: "retry",
      at: new Date(start.getTime() + 5 * DAY),
    });
    const oneLater = new Date(now.getTime() + 1);
    expect(after(answered(429, 86_400), { attempt: 4, now: oneLater })).toEqual({ kind: "give_up" });
  });

  it("disables the endpoint after 410, on the first attempt and on the last", () => {
    for (const attempt of [1, 5, 11]) {
      expect(after(answered(410), { attempt })).toEqual({ kind: "disable_endpoint" });
    }
  });

  it("that was brought forward waits until its original due time, or longer if Retry-After says so", () => {
    const dueAt = new Date(start.getTime() + 600_000);
    for (const attempt of [2, 11]) {
      expect(after(unreached, { attempt, dueAt })).toEqual({ kind: "retry", at: dueAt });
    }
    const asked = { kind: "retry", at: new Date(start.getTime() + HOUR) };
    expect(after(answered(503, 3600), { dueAt })).toEqual(asked);
    expect(after(answered(410), { dueAt })).toEqual({ kind: "disable_endpoint" });
  });

  it("always ends within eleven attempts and five days, regardless of the responses", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(outcomes, randoms), { minLength: 11, maxLength: 11 }), (attempts) => {
        let now = start;
        for (const [index, [outcome, random]] of attempts.entries()) {
          const next = after(outcome, { attempt: index + 1, now, random });
          if (next.kind !== "retry") return;
          expect(next.at.getTime()).toBeGreaterThan(now.getTime());
          expect(next.at.getTime() - start.getTime()).toBeLessThanOrEqual(5 * DAY);
          now = next.at;
        }
        throw new Error("still retrying after eleven attempts");
      }),
    );
  });
});

describe("an endpoint", () => {
  it("is disabled only after five days without a successful delivery", () => {
    const failing = (milliseconds: number) =>
      shouldDisable({ failingSince: start, now: new Date(start.getTime() + milliseconds) });
    expect(failing(0)).toBe(false);
    expect(failing(5 * DAY - 1)).toBe(false);
    expect(failing(5 * DAY)).toBe(true);
    expect(shouldDisable({ failingSince: null, now: start })).toBe(false);
  });
});
