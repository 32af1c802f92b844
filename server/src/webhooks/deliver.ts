import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import {
  attemptMadeAt,
  cancelDelivery,
  type DeliveryOutcome,
  findDueDelivery,
  findEvent,
  settleAttempt,
} from "../db/events.ts";
import type { Db, DeliveryRow, WebhookEndpointRow } from "../db/schema.ts";
import {
  disableEndpoint,
  findWebhookEndpoint,
  markEndpointFailing,
  markEndpointHealthy,
} from "../db/webhook-endpoints.ts";
import { type Job, newJobId, type Queue } from "../queue.ts";
import type { Storage } from "../storage/storage.ts";
import type { EndpointPolicy, ResolveHost } from "./guard-url.ts";
import { type AttemptOutcome, postWebhook } from "./post.ts";
import { renderRequest, secretsInForce } from "./request.ts";
import { type NextStep, nextAttempt, shouldDisable } from "./schedule.ts";

export interface DeliverDeps {
  db: Db;
  queue: Queue;
  storage: Storage;
  clock: Clock;
  log: Logger;
  policy: EndpointPolicy;
  resolve: ResolveHost;
  version: string;
  timeoutMs: number;
}

/**
 * Makes one attempt of one delivery and settles what follows from it. A process that dies in between has
 * told nobody: the job comes back and the receiver may see the event twice, under the same id.
 */
export async function deliver(deps: DeliverDeps, job: Job, shutdown: AbortSignal): Promise<void> {
  const { db, clock } = deps;
  const delivery = await findDueDelivery(db, job.subjectId, job.id);
  if (!delivery) return;
  const endpoint = await findWebhookEndpoint(db, delivery.endpoint_id);
  const event = await findEvent(db, delivery.event_id);
  if (!endpoint || !event || endpoint.disabled_at) {
    await cancelDelivery(db, delivery.id, clock.now());
    return;
  }

  const attemptedAt = clock.now();
  const request = await renderRequest(deps, event, endpoint, {
    at: attemptedAt,
    secrets: secretsInForce(endpoint, attemptedAt),
  });
  // Its video was deleted a moment ago, and the delivery with it.
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
  await settle(deps, { delivery, number: delivery.attempts + 1, at: attemptedAt, outcome }, endpoint);
}

/** Writes down the attempt and, together with it, what follows: the next job, or an end. */
async function settle(
  { db, queue, clock, log }: DeliverDeps,
  attempt: { delivery: DeliveryRow; number: number; at: Date; outcome: AttemptOutcome },
  endpoint: WebhookEndpointRow,
): Promise<void> {
  const { delivery, number, at, outcome } = attempt;
  const now = clock.now();
  // The schedule counts from where the delivery was last begun by hand.
  const before = delivery.attempts_before;
  const next = nextAttempt({
    attempt: number - before,
    outcome,
    firstAttemptAt: (await attemptMadeAt(db, delivery.id, before + 1)) ?? at,
    now,
    random: Math.random(),
  });

  const recorded = await db.transaction().execute(async (tx) => {
    // The endpoint's row first: whoever settles an attempt locks the two in the same order.
    const failingSince = next.kind === "delivered" ? null : await markEndpointFailing(tx, endpoint.id, at);
    if (next.kind === "delivered") await markEndpointHealthy(tx, endpoint.id);
    const following = whatFollows(next, now);
    const settled = await settleAttempt(
      tx,
      { id: delivery.id, jobId: delivery.job_id },
      {
        number,
        attemptedAt: at,
        latencyMs: outcome.latencyMs,
        statusCode: outcome.kind === "response" ? outcome.status : null,
        failure: outcome.kind === "failed" ? `${outcome.reason}: ${outcome.message}` : null,
        responseStart: outcome.kind === "response" ? outcome.bodyStart : null,
      },
      following,
    );
    if (!settled) return false;
    if (following.status === "pending") {
      const startAfter = following.nextAttemptAt;
      await queue.send(tx, "deliver", { id: following.jobId, subjectId: delivery.id, startAfter });
    }
    const reason = disablingReason(next, failingSince, now);
    if (reason) await disableEndpoint(tx, endpoint.id, reason, now);
    return true;
  });
  const { kind, latencyMs } = outcome;
  const result = kind === "response" ? { status: outcome.status } : { failure: outcome.reason };
  log.info(
    {
      deliveryId: delivery.id,
      eventId: delivery.event_id,
      number,
      latencyMs,
      ...result,
      next: next.kind,
      recorded,
    },
    "webhook attempted",
  );
}

function whatFollows(next: NextStep, now: Date): DeliveryOutcome {
  if (next.kind === "retry") return { status: "pending", jobId: newJobId(), nextAttemptAt: next.at };
  return { status: next.kind === "delivered" ? "succeeded" : "failed", finishedAt: now };
}

/** Judged where a delivery is given up, not at the first attempt after a long quiet. */
function disablingReason(next: NextStep, failingSince: Date | null, now: Date): string | null {
  if (next.kind === "disable_endpoint") return "It answered 410 Gone.";
  if (next.kind !== "give_up") return null;
  return shouldDisable({ failingSince, now }) ? "Nothing reached it for five days." : null;
}
