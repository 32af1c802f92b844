import type { AttemptOutcome } from "./post.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Milliseconds between each attempt and the previous one: the schedule that Standard Webhooks recommends, with an
 * additional attempt after 45 s for receivers that are restarting.
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

/**
 * Up to this fraction of a delay is added at random, so that deliveries that failed together are not retried together.
 */
const JITTER = 0.1;
const MAX_RETRY_AFTER_MS = DAY;
/** Limits deliveries whose receiver keeps sending `Retry-After`. */
const MAX_DELIVERY_AGE_MS = 5 * DAY;
export const MAX_FAILING_DAYS = 5;
const MAX_FAILING_MS = MAX_FAILING_DAYS * DAY;

export interface FinishedAttempt {
  /** From 1, since the last manual redelivery and without earlier attempts that were brought forward. */
  attempt: number;
  outcome: AttemptOutcome;
  firstAttemptAt: Date;
  /** When an attempt that was brought forward would have been due; null for other attempts. */
  dueAt: Date | null;
  now: Date;
  /** From 0 to 1, exclusive. */
  random: number;
}

export type NextStep =
  | { kind: "delivered" }
  | { kind: "retry"; at: Date }
  /** The delivery has failed permanently. */
  | { kind: "give_up" }
  /** The receiver responded 410 Gone. The delivery has failed permanently too. */
  | { kind: "disable_endpoint" };

/**
 * Decides what follows an attempt. Only 2xx is a success. A redirect is not followed, so the event was not received.
 */
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

/** Returns the delay that the receiver requested, or 0. */
export function retryAfterMs(outcome: AttemptOutcome): number {
  return outcome.kind === "response" ? (outcome.retryAfterMs ?? 0) : 0;
}

export function isDelivered(outcome: AttemptOutcome): boolean {
  return outcome.kind === "response" && outcome.status >= 200 && outcome.status < 300;
}

/**
 * Decides whether to disable an endpoint because no delivery has succeeded for `MAX_FAILING_DAYS`.
 *
 * @param failingSince the first failure since the last success; null if the last attempt succeeded
 */
export function shouldDisable({ failingSince, now }: { failingSince: Date | null; now: Date }): boolean {
  return failingSince !== null && now.getTime() - failingSince.getTime() >= MAX_FAILING_MS;
}
