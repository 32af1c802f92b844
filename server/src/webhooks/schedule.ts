import type { AttemptOutcome } from "./post.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * The delay of each attempt after the previous one, in milliseconds: the schedule that Standard Webhooks recommends,
 * plus an attempt after 45 s for a receiver that is restarting. Eleven attempts over 75 hours and 36 minutes.
 */
export const ATTEMPT_DELAYS_MS: readonly number[] = [
  0,
  5 * SECOND,
  45 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** Up to this share of a delay is added at random, so that what failed together does not return together. */
const JITTER = 0.1;
const MAX_RETRY_AFTER_MS = DAY;
/** A receiver that keeps asking for more time does not keep a delivery alive for ever. */
const MAX_DELIVERY_AGE_MS = 5 * DAY;
const MAX_FAILING_MS = 5 * DAY;

export interface FinishedAttempt {
  /** Which attempt of the delivery it was, from 1. */
  attempt: number;
  outcome: AttemptOutcome;
  /** When the delivery's first attempt began. */
  firstAttemptAt: Date;
  /** When an attempt that was brought forward was originally due; null for a scheduled one. */
  dueAt: Date | null;
  now: Date;
  /** 0 ≤ random < 1. */
  random: number;
}

export type NextStep =
  | { kind: "delivered" }
  | { kind: "retry"; at: Date }
  /** The delivery has failed for good; the endpoint stays. */
  | { kind: "give_up" }
  /** 410 Gone: the receiver wants nothing any more. The delivery has failed for good, too. */
  | { kind: "disable_endpoint" };

/** What follows an attempt. Only 2xx is success: a redirect is not followed, so nobody took the event. */
export function nextAttempt(finished: FinishedAttempt): NextStep {
  const { attempt, outcome, firstAttemptAt, dueAt, now, random } = finished;
  if (isDelivered(outcome)) return { kind: "delivered" };
  if (outcome.kind === "response" && outcome.status === 410) return { kind: "disable_endpoint" };
  const scheduled = dueAt ? dueAt.getTime() - now.getTime() : ATTEMPT_DELAYS_MS[attempt];
  if (scheduled === undefined) return { kind: "give_up" };
  const delay = Math.max(scheduled, Math.min(retryAfterMs(outcome), MAX_RETRY_AFTER_MS));
  const at = now.getTime() + Math.round(delay * (1 + JITTER * random));
  if (at > firstAttemptAt.getTime() + MAX_DELIVERY_AGE_MS) return { kind: "give_up" };
  return { kind: "retry", at: new Date(at) };
}

/** The delay that the receiver requested; 0 if none. */
export function retryAfterMs(outcome: AttemptOutcome): number {
  return outcome.kind === "response" ? (outcome.retryAfterSeconds ?? 0) * SECOND : 0;
}

export function isDelivered(outcome: AttemptOutcome): boolean {
  return outcome.kind === "response" && outcome.status >= 200 && outcome.status < 300;
}

/**
 * Whether an endpoint is given up after a failed attempt: nothing has reached it for five days.
 *
 * @param failingSince the first failure since the last success; null where the last attempt succeeded
 */
export function shouldDisable({ failingSince, now }: { failingSince: Date | null; now: Date }): boolean {
  return failingSince !== null && now.getTime() - failingSince.getTime() >= MAX_FAILING_MS;
}
