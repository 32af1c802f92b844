import { CompiledQuery, sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { listVideoFiles } from "../../src/backup/video-files.ts";
import { countProcessed } from "../../src/bulk-operations/queries.ts";
import { listStoredParts } from "../../src/cleanup/missing-file-queries.ts";
import type { SnapshotQuery } from "../../src/db/database.ts";
import type { Db } from "../../src/db/schema.ts";
import { findLostJobs } from "../../src/queue/lost-job-queries.ts";
import { listTranscriptions } from "../../src/transcription/queries.ts";
import { listDeliveries } from "../../src/webhooks/queries.ts";
import { countRowsRead, countRowsReadBy } from "../support/rows-read.ts";
import { createTenant, shareService } from "../support/service.ts";

const subtext = shareService({ start: false });
const VIDEOS = 3_000;
const PENDING = 10;
const RARE = "transcriptions.transcription.failed";

describe("with many videos that were transcribed and announced long ago", () => {
  let environmentId: string;
  const open = () => subtext.service.parts.database.kysely;
  const idOf = (kind: string, number = sql.ref("number")) =>
    sql`${kind} || '_' || lpad(${number}::text, 26, '0')`;

  beforeAll(async () => {
    ({ environmentId } = await createTenant(subtext));
    const db = open();
    const numbers = sql`generate_series(1, ${VIDEOS}::int) as number`;
    await sql`
      insert into video (id, environment_id, metadata, size_bytes, created_at, uploaded_at, ai_transcription)
      select ${idOf("video")}, ${environmentId}, '{}', 1, now(), now(), true from ${numbers}`.execute(db);
    await sql`
      insert into transcription
        (id, video_id, environment_id, status, job_id, created_at, queued_at, finished_at, file_prefix)
      select ${idOf("transcription")}, ${idOf("video")}, ${environmentId}, 'COMPLETED', gen_random_uuid(), now(),
        now(), now(), 'transcripts/' || number from ${numbers}`.execute(db);
    await sql`
      insert into webhook_endpoint (id, environment_id, url, event_types, secret, metadata, created_at)
      values ('endpoint_many', ${environmentId}, 'https://example.com', '[]', '', '{}', now())`.execute(db);
    await sql`
      insert into event (id, environment_id, type, transcription_id, detail, created_at)
      select ${idOf("event")}, ${environmentId},
        case when number <= ${PENDING}::int then ${RARE} else 'transcriptions.transcription.completed' end,
        ${idOf("transcription")}, '{}', now() from ${numbers}`.execute(db);
    await sql`
      insert into delivery (id, event_id, event_type, endpoint_id, status, job_id, created_at)
      select replace(id, 'event', 'delivery'), id, type, 'endpoint_many',
        case when type = ${RARE} then 'pending' else 'succeeded' end, gen_random_uuid(), now()
      from event where environment_id = ${environmentId}`.execute(db);
    await sql`analyze`.execute(db);
  });

  const later = `video_${String(VIDEOS - 500).padStart(26, "0")}`;

  test("the search for missing files reads only the videos that it checks, however many come before", async () => {
    const read = await countRowsRead(open(), (db) => listStoredParts(db, { after: later, limit: 100 }));
    expect(read).toBeLessThanOrEqual(2 * 100);
  });

  test("a backup reads every video once", async () => {
    const db = open();
    let read = 0;
    const query: SnapshotQuery = async (statement, values = []) => {
      read += await countRowsReadBy(db, statement, values);
      return (await db.executeQuery<never>(CompiledQuery.raw(statement, [...values]))).rows;
    };
    expect(await Array.fromAsync(listVideoFiles(query))).toHaveLength(VIDEOS);
    expect(read).toBeLessThanOrEqual(2 * VIDEOS);
  });

  test.each([null, "COMPLETED"] as const)("only the latest transcriptions (%s) are read", async (status) => {
    const latest = (db: Db) => listTranscriptions(db, environmentId, { status, limit: 10 });
    const numbers = (await latest(open())).map(({ id }) => Number(id.split("_")[1]));
    expect(numbers).toEqual(Array.from({ length: 10 }, (_, index) => VIDEOS - index));
    expect(await countRowsRead(open(), latest)).toBeLessThanOrEqual(2 * 10);
  });

  test("the count of a bulk operation reads only the videos of its batch", async () => {
    const db = open();
    await sql`
      with operation as (
        insert into bulk_operation (id, environment_id, kind, state, matched, created_at)
        values ('operation_many', ${environmentId}, 'retry', 'running', ${VIDEOS}, now())
      )
      insert into bulk_operation_item (operation_id, video_id, outcome)
      select 'operation_many', id, case when id > ${later} then 'done' end from video`.execute(db);
    await sql`analyze bulk_operation_item`.execute(db);
    const [first, last] = [VIDEOS - 49, VIDEOS].map((number) => `video_${String(number).padStart(26, "0")}`);
    const batch = { first: first!, last: last! };
    const count = (db: Db) => db.transaction().execute((tx) => countProcessed(tx, "operation_many", batch));
    let counted: Awaited<ReturnType<typeof count>>;
    const read = await countRowsRead(db, async (db) => {
      counted = await count(db);
    });
    expect(counted).toMatchObject({ done: 50 });
    expect(read).toBeLessThanOrEqual(4 * 50);
  });

  test("the search for deliveries with lost jobs reads only waiting ones", async () => {
    expect(await findLostJobs(open(), "deliver")).toHaveLength(PENDING);
    expect(await countRowsRead(open(), (db) => findLostJobs(db, "deliver"))).toBeLessThan(VIDEOS / 10);
  });

  test.each([
    [null, RARE, PENDING],
    ["pending", RARE, PENDING],
    ["succeeded", RARE, 0],
    ["failed", "transcriptions.transcription.completed", 0],
    [null, "transcriptions.transcription.completed", 20],
    [null, undefined, 20],
  ] as const)(
    "only the deliveries shown are read, with the state %s and the event type %s",
    async (status, eventType, shown) => {
      const page = (db: Db) =>
        listDeliveries(db, "endpoint_many", {
          status,
          before: null,
          limit: 20,
          ...(eventType && { eventType }),
        });
      expect(await page(open())).toHaveLength(shown);
      // Some in each of four states, with their events and attempts.
      expect(await countRowsRead(open(), page)).toBeLessThanOrEqual(4 * 20 + 4 * 20);
    },
  );
});
