import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, type TestContext, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Schema } from "../../src/db/schema.ts";
import { createEnvironment } from "../../src/environments/environments.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { Queue } from "../../src/queue/queue.ts";
import { openDiskTranscriptStore } from "../../src/storage/disk/disk-transcript-store.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { acceptUpload } from "../../src/uploads/accept-upload.ts";
import { createWebhookEndpoint } from "../../src/webhooks/endpoints.ts";
import { createEndpointPolicy } from "../../src/webhooks/guard-url.ts";
import { until } from "../support/service.ts";
import { makeTestDatabase } from "../support/test-database.ts";

const server = process.env.TEST_DATABASE_URL;

interface Worker {
  process: ChildProcess;
  output(): string;
}

/**
 * One PostgreSQL and one folder, shared by worker processes, and a receiver of webhooks.
 * @param context of the calling test: in concurrent tests, vitest's `onTestFinished` would use another test's
 */
async function setUp(context: TestContext, answer: (number: number, response: ServerResponse) => void) {
  const { onTestFinished } = context;
  const folder = await mkdtemp(join(tmpdir(), "subtext-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const databaseUrl = await makeTestDatabase(server!, `fencing_${randomUUID().replaceAll("-", "_")}`);
  const log = createLog("silent");
  const database = await openDatabase<Schema>({ databaseUrl, folder, log });
  const db = database.kysely;
  await migrate(db);
  const queue = new Queue(database.boss, database.kind, log);
  await queue.start();
  let posts = 0;
  const receiver = createServer((request, response) => {
    posts += 1;
    const number = posts;
    request.resume().on("end", () => answer(number, response));
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  const { port } = receiver.address() as AddressInfo;
  const { id: environmentId } = await createEnvironment(
    { db, clock: systemClock },
    { name: "Fencing", aiTranscription: true },
  );
  await createWebhookEndpoint(
    {
      db,
      clock: systemClock,
      policy: createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: ["127.0.0.1/32"] }),
    },
    { environmentId, url: `http://127.0.0.1:${port}/` },
  );
  const workers: ChildProcess[] = [];
  onTestFinished(async () => {
    for (const worker of workers) worker.kill("SIGKILL");
    receiver.closeAllConnections();
    receiver.close();
    await queue.stop(1_000);
    await database.close();
  });

  const startWorker = async (env: Record<string, string>): Promise<Worker> => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "waiting-worker.ts")], {
      env: {
        ...process.env,
        DATABASE_URL: databaseUrl,
        DATA_DIR: join(folder, `worker-${workers.length}`),
        FILES_FOLDER: join(folder, "files"),
        WORKER_CONCURRENCY: "1",
        LOG_LEVEL: "info",
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    workers.push(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
    await until(async () => output.includes("ready\n"));
    return { process: child, output: () => output };
  };

  const videoId = newId("video");
  await db
    .insertInto("video")
    .values({
      id: videoId,
      environment_id: environmentId,
      metadata: "{}",
      size_bytes: 1,
      created_at: new Date(),
    })
    .execute();
  await acceptUpload({ db, queue, clock: systemClock }, { videoId, sizeBytes: 1 });
  const transcripts = await openDiskTranscriptStore({
    folder: join(folder, "files"),
    baseUrl: "http://127.0.0.1",
    secret: Buffer.alloc(32),
  });
  const read = async () => await db.selectFrom("transcription").selectAll().executeTakeFirstOrThrow();
  const readDelivery = async () => await db.selectFrom("delivery").selectAll().executeTakeFirst();
  return { db, startWorker, transcripts, read, readDelivery, posts: () => posts };
}

async function end({ process: worker }: Worker): Promise<void> {
  const ended = once(worker, "exit");
  worker.kill("SIGTERM");
  await ended;
}

// Several processes require a shared database, which `.ci/run` starts.
describe
  .skipIf(!server)
  .concurrent("a worker process that was stopped, and wakes up after its successor", () => {
    test("changes nothing of the transcription: its row, files, event and delivery are the successor's", {
      timeout: 120_000,
    }, async (context) => {
      const { db, startWorker, transcripts, read, readDelivery, posts } = await setUp(
        context,
        (_number, response) => response.end(),
      );
      const first = await startWorker({ RECOGNITION_MS: "1000", SAYS: "First." });
      await until(async () => (await read()).status === "PROCESSING");
      first.process.kill("SIGSTOP");
      const second = await startWorker({ SAYS: "Second." });
      await until(async () => (await readDelivery())?.status === "succeeded");
      const row = await read();
      expect(row).toMatchObject({ status: "COMPLETED", attempt: 2, crash_count: 1 });

      first.process.kill("SIGCONT");
      await until(async () => first.output().includes("canceled, deleted or taken over"));
      await end(first);
      await end(second);
      expect(await read()).toEqual(row);
      expect(await db.selectFrom("event").selectAll().execute()).toHaveLength(1);
      expect(await db.selectFrom("delivery").selectAll().execute()).toHaveLength(1);
      expect(posts()).toBe(1);
      let text = "";
      for await (const chunk of await transcripts.read(`${row.file_prefix}/transcript.txt`)) text += chunk;
      expect(text).toContain("Second.");
    });

    test("changes nothing of a delivery that its successor has made", {
      timeout: 120_000,
    }, async (context) => {
      let held: ServerResponse | undefined;
      const { db, startWorker, readDelivery } = await setUp(context, (number, response) => {
        if (number === 1) held = response;
        else response.end();
      });
      const first = await startWorker({});
      await until(async () => held !== undefined);
      first.process.kill("SIGSTOP");
      const second = await startWorker({});
      await until(async () => (await readDelivery())?.status === "succeeded");
      const delivery = await readDelivery();
      held!.writeHead(500).end();

      first.process.kill("SIGCONT");
      await until(async () => first.output().includes("webhook attempted"));
      await end(first);
      await end(second);
      expect(await readDelivery()).toEqual(delivery);
      expect(await db.selectFrom("delivery_attempt").selectAll().execute()).toMatchObject([
        { number: 1, status_code: 200 },
      ]);
    });
  });

if (!server) {
  describe("worker processes that were stopped", () => {
    test.skip("are not tested: TEST_DATABASE_URL names no server", () => {});
  });
}
