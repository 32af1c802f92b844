import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { migrate } from "../src/db/migrate.ts";
import type { Schema } from "../src/db/schema.ts";
import { fileKey } from "../src/storage/transcript-files.ts";
import { cookieOf, send, signIn } from "./operator-requests.ts";
import { readTranscription, startService, type TestService, until, untilEnded } from "./support/service.ts";
import { writeRecording } from "./support/stored-recording.ts";
import { startReceiver } from "./support/webhook-receiver.ts";
import {
  firstReleaseStatements,
  openEmptyDatabase,
  rowsInParentsOrder,
  runStatements,
  writeInstallationMark,
} from "./upgrade/first-release-database.ts";
import { FIRST_RELEASE } from "./upgrade/first-release-names.ts";

const { videos, environmentId, endpointId, apiKey } = FIRST_RELEASE;
const tenant = { environmentId, key: apiKey };
const RECORDING = join(import.meta.dirname, "../../speech/test/fixtures/speech/english-1.wav");
const WORDS = [
  { word: "Whimsical", start: 0.1, end: 0.5 },
  { word: "lighthouses", start: 0.5, end: 1.25 },
];

/** The data folder of the first release: its database, and the mark that ties the files to it. */
async function firstReleaseFolder(): Promise<string> {
  const { dataFolder, database } = await openEmptyDatabase<Schema>();
  await runStatements(database.kysely, await firstReleaseStatements());
  await database.close();
  await writeInstallationMark(dataFolder, FIRST_RELEASE.installationMark);
  return dataFolder;
}

async function get<T>({ url }: TestService, path: string): Promise<T> {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${apiKey}` } });
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as T;
}

test("clients and operators can read the data of the first release, and its unfinished work completes", {
  timeout: 240_000,
}, async () => {
  const dataFolder = await firstReleaseFolder();
  const still = await startService({ dataFolder, start: false });
  const { transcripts } = still.service.parts;
  const files = { vtt: "the captions", json: JSON.stringify(WORDS), txt: "Whimsical lighthouses" };
  for (const format of ["vtt", "json", "txt"] as const)
    await transcripts.put(fileKey(FIRST_RELEASE.completedPrefix, format), Buffer.from(files[format]));
  for (const videoId of [videos.pending, videos.processing, videos.failed])
    await writeRecording(still.service, videoId, await readFile(RECORDING));

  // Clients.
  const { body: completed } = await readTranscription(still, tenant, videos.completed);
  expect(completed).toMatchObject({
    id: "transcription_01jd0000000000000000000001",
    videoId: videos.completed,
    environmentId,
    status: "COMPLETED",
    language: "en",
    wordCount: 2,
    duration: 1.25,
    createdAt: "2024-11-20T10:01:00.000Z",
    completedAt: "2024-11-20T10:01:02.345Z",
  });
  expect(await (await fetch(completed.files!.vtt.url)).text()).toBe("the captions");
  const statuses: Record<string, string> = {};
  for (const [name, videoId] of Object.entries(videos)) {
    const { status, body } = await readTranscription(still, tenant, videoId);
    statuses[name] = status === 200 ? body.status : (body as unknown as { code: string }).code;
  }
  expect(statuses).toEqual({
    completed: "COMPLETED",
    pending: "PENDING",
    processing: "PROCESSING",
    failed: "FAILED",
    skipped: "SKIPPED",
    untranscribed: "video_not_found",
    uploading: "upload_incomplete",
  });
  expect(await get(still, `/api/v1/videos/${videos.completed}`)).toMatchObject({
    filename: "holiday.mp4",
    metadata: { owner: 'Zoë "the" O\'Hara\\n' },
    sizeBytes: 12345678901,
    uploadedAt: "2024-11-20T10:01:00.000Z",
  });
  expect((await get<{ data: object[] }>(still, "/api/v1/videos")).data).toHaveLength(6);
  expect(await get(still, `/api/v1/webhook-endpoints/${endpointId}`)).toMatchObject({
    eventTypes: ["transcriptions.transcription.completed"],
    metadata: { team: "video" },
    failingSince: "2024-11-20T10:05:00.000Z",
  });

  // Operators.
  const cookie = cookieOf(await signIn(still, FIRST_RELEASE.operator));
  const look = async (path: string) => {
    const answer = await send(still, path, { headers: { cookie } });
    expect([path, answer.statusCode]).toEqual([path, 200]);
    return answer.json();
  };
  expect(await look("/me")).toMatchObject({ name: "Olive Owner", role: "owner" });
  expect((await look("/environments")).data).toMatchObject([
    { name: "Production", aiTranscription: true, allowedOrigins: ["https://app.example"] },
    { name: "Staging", aiTranscription: false, allowedOrigins: ["*"] },
  ]);
  expect((await look("/operators")).data).toHaveLength(2);
  expect((await look("/invitations")).data).toMatchObject([{ email: "ivy@subtext.example" }]);
  expect((await look(`/environments/${environmentId}/videos`)).data).toHaveLength(6);
  await look(`/environments/${environmentId}/video-counts`);
  expect((await look(`/environments/${environmentId}/api-keys`)).data).toHaveLength(2);
  expect((await look(`/environments/${environmentId}/webhook-endpoints`)).data).toHaveLength(2);
  expect((await look(`/webhook-endpoints/${endpointId}/deliveries`)).data).toHaveLength(2);
  for (const videoId of Object.values(videos))
    if (videoId !== videos.untranscribed) await look(`/environments/${environmentId}/videos/${videoId}`);
  await look("/system");
  const receiver = await startReceiver();
  receiver.trust("whsec_Rmlyc3RSZWxlYXNlRmlyc3RSZWxlYXNl");
  const moved = await fetch(`${still.url}/api/v1/webhook-endpoints/${endpointId}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ url: receiver.url }),
  });
  expect(moved.status).toBe(200);
  await still.service.stop();

  // Work that the first release had started.
  const running = await startService({ dataFolder });
  const reprocessed = await send(
    running,
    `/environments/${environmentId}/videos/${videos.failed}/reprocess`,
    {
      method: "POST",
      headers: { cookie, origin: running.url },
    },
  );
  expect(reprocessed.statusCode).toBe(202);
  for (const videoId of [videos.pending, videos.processing, videos.failed])
    expect(await untilEnded(running, tenant, videoId)).toMatchObject({ status: "COMPLETED", language: "en" });
  const posts = await until(async () => receiver.received.length >= 4 && receiver.received);
  expect(new Set(posts.map(({ payload }) => "videoId" in payload.data && payload.data.videoId))).toEqual(
    new Set([videos.completed, videos.pending, videos.processing, videos.failed]),
  );
  expect(posts.map(({ id }) => id)).toContain("event_01jd0000000000000000000001");

  // New since the first release: deliveries have an event type and a transcription, and transcripts are searchable.
  const { kysely } = running.service.parts.database;
  const deliveries = await kysely
    .selectFrom("delivery")
    .innerJoin("event", "event.id", "delivery.event_id")
    .select(["delivery.event_type", "event.type"])
    .execute();
  expect(deliveries.map(({ event_type }) => event_type)).toEqual(deliveries.map(({ type }) => type));
  const search = `/environments/${environmentId}/search?q=lighthouse`;
  await until(
    async () =>
      (await send(running, search, { headers: { cookie } })).json<{ data: object[] }>().data.length > 0,
  );
});

describe("a process of the first release, on current tables", () => {
  test("finds all tables and columns that it knows, and may omit all others", async () => {
    const { database } = await openEmptyDatabase<Schema>();
    const { kysely } = database;
    try {
      await runStatements(kysely, await firstReleaseStatements());
      const before = await columnsOf(kysely);
      await migrate(kysely);
      const after = await columnsOf(kysely);
      for (const [name, { type, nullable }] of before) {
        const now = after.get(name);
        expect([name, now?.type]).toEqual([name, type]);
        // What the old process may set to null, the new tables may not reject.
        if (nullable) expect([name, now?.nullable]).toEqual([name, true]);
      }
      const tables = new Set([...before.keys()].map((name) => name.split(".")[0]));
      for (const [name, { optional }] of after)
        if (!before.has(name) && tables.has(name.split(".")[0]))
          expect([name, optional]).toEqual([name, true]);
    } finally {
      await database.close();
    }
  });

  test("writes and reads rows of every table that it knows", async () => {
    const { database } = await openEmptyDatabase<Schema>();
    const { kysely } = database;
    try {
      await migrate(kysely);
      const statements = await firstReleaseStatements();
      const inserts = rowsInParentsOrder(statements);
      await runStatements(kysely, inserts);
      for (const insert of inserts) {
        const [, table, columns, id] = /^INSERT INTO (\S+) \(([^)]*)\) VALUES \('([^']*)'/.exec(insert)!;
        const { rows } = await sql`select ${sql.raw(columns!)} from ${sql.raw(table!)}`.execute(kysely);
        expect(JSON.stringify(rows)).toContain(id);
      }
    } finally {
      await database.close();
    }
  });
});

interface Column {
  type: string;
  nullable: boolean;
  /** Whether an insert may omit the column. */
  optional: boolean;
}

async function columnsOf(db: Parameters<typeof migrate>[0]): Promise<Map<string, Column>> {
  const { rows } = await sql<Column & { name: string }>`
    select table_name || '.' || column_name as name, data_type as type, is_nullable = 'YES' as nullable,
      is_nullable = 'YES' or column_default is not null or is_identity = 'YES' as optional
    from information_schema.columns where table_schema = 'public'`.execute(db);
  return new Map(rows.map(({ name, ...column }) => [name, column]));
}
