import type { Logger } from "pino";
import { recordEndpointEvent, SERVICE } from "../audit/audit-events.ts";
import type { Db } from "../db/schema.ts";
import { createBatcher } from "../lib/batcher.ts";
import type { Clock } from "../lib/clock.ts";
import type { Job } from "../queue/job.ts";
import { newJobId, type Queue } from "../queue/queue.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { bringWaitingForward } from "./bring-forward.ts";
import {
  type DeliveryJob,
  type DueDelivery,
  type EventSubject,
  findDueDeliveries,
  findEventSubjects,
  type SuccessfulAttempt,
  settleDelivered,
} from "./due-delivery-queries.ts";
import { disableEndpoint, markEndpointFailing } from "./endpoint-queries.ts";
import type { EndpointPolicy, ResolveHost } from "./guard-url.ts";
import { type AttemptFailure, type AttemptOutcome, postWebhook } from "./post.ts";
import {
  attemptTime,
  cancelDelivery,
  type DeliveryOutcome,
  type RecordedAttempt,
  settleAttempt,
} from "./queries.ts";
import { activeSecrets, renderRequest } from "./request.ts";
import { MAX_FAILING_DAYS, type NextStep, nextAttempt, retryAfterMs, shouldDisable } from "./schedule.ts";

export interface DeliverDeps {
  db: Db;
  queue: Queue;
  transcripts: TranscriptStore;
  clock: Clock;
  log: Logger;
  policy: EndpointPolicy;
  resolve: ResolveHost;
  version: string;
  timeoutMs: number;
  /** Called when an attempt has been recorded. */
  onDelivery?: (delivery: DeliveryReport) => void;
}

const MAX_BATCH_SIZE = 50;

export interface DeliveryReport {
  deliveryId: string;
  endpointId: string;
  /** Null for a test event. */
  transcriptionId: string | null;
  /** From 1. */
  number: number;
  createdAt: Date;
  attemptedAt: Date;
  latencyMs: number;
  /** HTTP status of the response; null without a response. */
  status: number | null;
  failure: AttemptFailure | null;
  next: NextStep["kind"];
}

/**
 * Attempts a delivery, records the attempt and schedules the next one. If the process crashes in between, another
 * worker repeats the attempt, and the receiver may get the event twice with the same id.
 */
type Deliver = (job: Job, shutdown: AbortSignal) => Promise<void>;

/** Concurrent attempts share their database queries. */
export function createDeliver(deps: DeliverDeps): Deliver {
  const { db } = deps;
  const read = { maxConcurrency: 2, maxBatchSize: MAX_BATCH_SIZE };
  const findDue = createBatcher<DeliveryJob, DueDelivery | undefined>(
    (jobs) => findDueDeliveries(db, jobs),
    read,
  );
  const findSubject = createBatcher<string, EventSubject | undefined>(
    (ids) => findEventSubjects(db, ids),
    read,
  );
  const recordDelivered = createBatcher<SuccessfulAttempt, boolean>((attempts) => recordAll(db, attempts), {
    maxConcurrency: 1,
    maxBatchSize: MAX_BATCH_SIZE,
  });
  const bringForward = createBatcher<string, void>(
    async (endpointIds) => {
      await bringWaitingForward(deps, endpointIds);
      return endpointIds.map(() => undefined);
    },
    { maxConcurrency: 1, maxBatchSize: MAX_BATCH_SIZE },
  );

  return async (job, shutdown) => {
    const { clock, transcripts } = deps;
    const due = await findDue({ deliveryId: job.subjectId, jobId: job.id });
    if (!due) return;
    const { delivery, endpoint, event } = due;
    if (endpoint.disabled_at) {
      await cancelDelivery(db, { id: delivery.id, jobId: delivery.job_id }, clock.now());
      return;
    }

    const attemptedAt = clock.now();
    const request = await renderRequest({ transcripts, findSubject }, event, endpoint, {
      at: attemptedAt,
      secrets: activeSecrets(endpoint, attemptedAt),
    });
    // The video and its deliveries were deleted in the meantime.
    if (!request) return;
    const outcome = await postWebhook({
      ...request,
      url: new URL(request.url),
      timeoutMs: deps.timeoutMs,
      policy: deps.policy,
      resolve: deps.resolve,
      version: deps.version,
      clock,
      signal: AbortSignal.any([job.signal, shutdown]),
    });

    const attempt = { number: delivery.attempts + 1, attemptedAt, ...resultOf(outcome) };
    const dueAt = laterThan(delivery.held_until, attemptedAt);
    const next = await nextStep(deps, due, { attemptedAt, dueAt, outcome });
    const recorded =
      next.kind === "delivered"
        ? await recordDelivered({
            ...attempt,
            deliveryId: delivery.id,
            jobId: delivery.job_id,
            endpointId: endpoint.id,
            finishedAt: clock.now(),
          })
        : await recordFailed(deps, due, { ...attempt, dueAt, outcome }, next);
    const { kind, latencyMs } = outcome;
    const { number } = attempt;
    const result = kind === "response" ? { status: outcome.status } : { failure: outcome.reason };
    deps.log.info(
      { deliveryId: delivery.id, eventId: event.id, number, latencyMs, ...result, next: next.kind, recorded },
      "webhook attempted",
    );
    if (!recorded) return;
    if (next.kind === "delivered") await bringForward(endpoint.id);
    deps.onDelivery?.({
      deliveryId: delivery.id,
      endpointId: endpoint.id,
      transcriptionId: event.transcription_id,
      number,
      createdAt: delivery.created_at,
      attemptedAt,
      latencyMs,
      status: kind === "response" ? outcome.status : null,
      failure: kind === "failed" ? outcome.reason : null,
      next: next.kind,
    });
  };
}

async function recordAll(
  db: Db,
  attempts: readonly SuccessfulAttempt[],
): Promise<(boolean | Promise<boolean>)[]> {
  const record = (some: readonly SuccessfulAttempt[]) =>
    db.transaction().execute((tx) => settleDelivered(tx, some));
  try {
    return await record(attempts);
  } catch (error) {
    if (attempts.length === 1) throw error;
    // A failure to record one attempt, for example because its video is being deleted, must not cause the other events
    // to be sent again.
    return attempts.map(async (attempt) => (await record([attempt]))[0] ?? false);
  }
}

function resultOf(outcome: AttemptOutcome): Omit<RecordedAttempt, "number" | "attemptedAt"> {
  const { latencyMs } = outcome;
  return outcome.kind === "response"
    ? { latencyMs, statusCode: outcome.status, failure: null, responseStart: outcome.bodyStart }
    : { latencyMs, statusCode: null, failure: `${outcome.reason}: ${outcome.message}`, responseStart: null };
}

async function nextStep(
  { db, clock }: DeliverDeps,
  { delivery }: DueDelivery,
  { attemptedAt, dueAt, outcome }: { attemptedAt: Date; dueAt: Date | null; outcome: AttemptOutcome },
): Promise<NextStep> {
  // The schedule counts only the attempts since the last manual redelivery, without those that were brought forward.
  const { attempts, attempts_before: before, early_attempts: early } = delivery;
  const isFirst = attempts === before;
  return nextAttempt({
    attempt: attempts + 1 - before - early,
    outcome,
    dueAt,
    firstAttemptAt: isFirst ? attemptedAt : ((await attemptTime(db, delivery.id, before + 1)) ?? attemptedAt),
    now: clock.now(),
    random: Math.random(),
  });
}

/** Records the attempt together with the next job or the final status. */
async function recordFailed(
  { db, queue, clock }: DeliverDeps,
  { delivery, endpoint }: DueDelivery,
  { dueAt, outcome, ...attempt }: RecordedAttempt & { dueAt: Date | null; outcome: AttemptOutcome },
  next: NextStep,
): Promise<boolean> {
  const now = clock.now();
  const earlyAttempts = delivery.early_attempts + (dueAt ? 1 : 0);
  const isHeld = dueAt !== null || retryAfterMs(outcome) > 0;
  return await db.transaction().execute(async (tx) => {
    // Lock order: the endpoint, then the delivery.
    const failingSince = await markEndpointFailing(tx, endpoint, attempt.attemptedAt);
    const followUpState = followUp(next, { now, isHeld, earlyAttempts });
    const turn = { id: delivery.id, jobId: delivery.job_id };
    if (!(await settleAttempt(tx, turn, attempt, followUpState))) return false;
    if (followUpState.status === "pending") {
      await queue.send(tx, "deliver", {
        id: followUpState.jobId,
        subjectId: delivery.id,
        delayMs: followUpState.nextAttemptAt.getTime() - now.getTime(),
        group: endpoint.id,
      });
    }
    // The attempt says nothing about an endpoint that was changed or enabled again during it.
    const reason = failingSince && disablingReason(next, failingSince, now);
    if (reason && (await disableEndpoint(tx, endpoint.id, reason, now))) {
      await recordEndpointEvent({ tx, clock }, SERVICE, "webhook_endpoint.disabled", endpoint, { reason });
    }
    return true;
  });
}

function followUp(
  next: NextStep,
  { now, isHeld, earlyAttempts }: { now: Date; isHeld: boolean; earlyAttempts: number },
): DeliveryOutcome {
  if (next.kind !== "retry") return { status: "failed", finishedAt: now };
  const heldUntil = isHeld ? next.at : null;
  return { status: "pending", jobId: newJobId(), nextAttemptAt: next.at, heldUntil, earlyAttempts };
}

function laterThan(date: Date | null, other: Date): Date | null {
  return date !== null && date > other ? date : null;
}

/**
 * Returns why the endpoint must be disabled, or null. Checks the failure period only after a delivery has failed
 * permanently, so that one failure after a long idle time does not disable the endpoint.
 */
function disablingReason(next: NextStep, failingSince: Date, now: Date): string | null {
  if (next.kind === "disable_endpoint") return "It responded with 410 Gone.";
  if (next.kind !== "give_up") return null;
  return shouldDisable({ failingSince, now })
    ? `No delivery has succeeded for ${MAX_FAILING_DAYS} days.`
    : null;
}
