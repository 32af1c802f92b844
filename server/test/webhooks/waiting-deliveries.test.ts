import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import type { DeliveryRow } from "../../src/db/tables/webhooks.ts";
import { newId } from "../../src/lib/ids.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { createDeliver } from "../../src/webhooks/deliver.ts";
import { emitTestEvent } from "../../src/webhooks/emit.ts";
import { changeWebhookEndpoint, createWebhookEndpoint } from "../../src/webhooks/endpoints.ts";
import { restartDelivery } from "../../src/webhooks/queries.ts";
import { createHostResolver } from "../../src/webhooks/resolve-host.ts";
import { createTenant, MovableClock, shareService } from "../support/service.ts";
import { startReceiver } from "../support/webhook-receivers.ts";

const SECOND = 1000;
const clock = new MovableClock();
const service = shareService({ start: false, clock });

/** Creates an endpoint whose deliveries the test attempts, and whose receiver responds as the test specifies. */
async function subscribe() {
  const { database, queue, transcripts, log, endpointPolicy: policy } = service.service.parts;
  const db = database.kysely;
  const answer = { status: 204, headers: {} as Record<string, string> };
  const receiver = await startReceiver((_request, response) =>
    response.writeHead(answer.status, answer.headers).end(),
  );
  onTestFinished(() => receiver.close());
  const { environmentId } = await createTenant(service, { clock });
  const endpoint = await createWebhookEndpoint(
    { db, clock, policy },
    { environmentId, url: receiver.url.href },
  );
  const resolve = createHostResolver();
  const deliver = createDeliver({
    ...{ db, queue, transcripts, clock, log, policy, resolve, version: "0", timeoutMs: 5_000 },
  });
  const read = async (id: string): Promise<DeliveryRow> =>
    await db.selectFrom("delivery").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const emit = async (): Promise<string> => {
    const id = newId("delivery");
    const now = clock.now();
    await db.transaction().execute((tx) => emitTestEvent({ tx, queue, now }, endpoint, id));
    return id;
  };
  const attempt = async (id: string, status: number, headers: Record<string, string> = {}) => {
    Object.assign(answer, { status, headers });
    const { job_id: jobId } = await read(id);
    const { signal } = new AbortController();
    await deliver({ id: jobId, subjectId: id, signal }, signal);
    return await read(id);
  };
  const emitFailed = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let made = 0; made < count; made++) ids.push(await emit());
    for (const id of ids) await attempt(id, 500);
    return ids;
  };
  /** Returns the deliveries whose next attempt is due now and whose job can be fetched. */
  const due = async (ids: string[]): Promise<string[]> => {
    const rows = await Promise.all(ids.map(read));
    const soon = rows.filter(({ next_attempt_at: at }) => at && at <= clock.now());
    const jobs = soon.map(({ job_id: id }) =>
      sql<{ due: boolean }>`
      select start_after <= now() as due from pgboss.job where id = ${id} and state = 'created'`.execute(db),
    );
    for (const { rows: found } of await Promise.all(jobs)) expect(found).toEqual([{ due: true }]);
    return soon.map(({ id }) => id);
  };
  return { db, endpoint, emit, emitFailed, attempt, read, due };
}

test("a success brings the two oldest waiting deliveries of its endpoint forward, and each of them two more", async () => {
  const { emit, emitFailed, attempt, due } = await subscribe();
  const others = await subscribe();
  const elsewhere = await others.emitFailed(1);
  const ids = await emitFailed(7);
  await attempt(await emit(), 204);
  expect(await due(ids)).toEqual(ids.slice(0, 2));
  expect(await attempt(ids[0]!, 204)).toMatchObject({ status: "succeeded", attempts: 2 });
  expect(await due(ids)).toEqual(ids.slice(1, 4));
  await attempt(ids[1]!, 204);
  expect(await due(ids)).toEqual(ids.slice(2, 6));
  expect(await others.due(elsewhere)).toEqual([]);
});

test("a failed attempt that was brought forward does not count toward the schedule, and occurs at most once between two scheduled attempts", async () => {
  const { emit, emitFailed, attempt, read } = await subscribe();
  const [id = ""] = await emitFailed(1);
  const scheduled = (await read(id)).next_attempt_at;
  await attempt(await emit(), 204);
  const early = await attempt(id, 500);
  expect(early).toMatchObject({ status: "pending", attempts: 2, early_attempts: 1 });
  expect(early.next_attempt_at?.getTime()).toBeGreaterThanOrEqual(scheduled?.getTime() ?? 0);
  await attempt(await emit(), 204);
  expect((await read(id)).next_attempt_at).toEqual(early.next_attempt_at);

  // The second scheduled attempt is followed by a delay of 45 s, as if there had been no other attempt.
  clock.advance(6 * SECOND);
  const second = await attempt(id, 500);
  const waitMs = (second.next_attempt_at?.getTime() ?? 0) - clock.now().getTime();
  expect(waitMs).toBeGreaterThan(40 * SECOND);
  expect(waitMs).toBeLessThan(50 * SECOND);
  expect(second).toMatchObject({ attempts: 3, early_attempts: 1, held_until: null });
  await attempt(await emit(), 204);
  expect((await read(id)).next_attempt_at?.getTime()).toBeLessThanOrEqual(clock.now().getTime());
});

test("a delivery that waits for the receiver's Retry-After is not brought forward", async () => {
  const { emit, attempt, read } = await subscribe();
  const id = await emit();
  const { next_attempt_at: asked } = await attempt(id, 503, { "retry-after": "3600" });
  await attempt(await emit(), 204);
  expect((await read(id)).next_attempt_at).toEqual(asked);
});

test("nothing is brought forward for an endpoint that was disabled in the meantime", async () => {
  const { db, endpoint, emit, emitFailed, attempt, due } = await subscribe();
  const ids = await emitFailed(2);
  const { endpointPolicy: policy } = service.service.parts;
  const last = await emit();
  const attempted = attempt(last, 204);
  await db
    .transaction()
    .execute((tx) => changeWebhookEndpoint({ tx, clock, policy }, endpoint.id, { enabled: false }));
  await attempted;
  expect(await due(ids)).toEqual([]);
});

test("a delivery that is redelivered manually gets the full schedule, even if it was brought forward before", async () => {
  const { db, emit, emitFailed, attempt, read } = await subscribe();
  const [id = ""] = await emitFailed(1);
  await attempt(await emit(), 204);
  await attempt(id, 500);
  await db.transaction().execute((tx) => restartDelivery(tx, id, newJobId(), clock.now()));
  expect(await read(id)).toMatchObject({ early_attempts: 0, held_until: null });
  const again = await attempt(id, 500);
  const waitMs = (again.next_attempt_at?.getTime() ?? 0) - clock.now().getTime();
  expect(waitMs).toBeLessThan(6 * SECOND);
});
