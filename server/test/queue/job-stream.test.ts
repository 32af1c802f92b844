import { randomUUID } from "node:crypto";
import { PgBoss } from "pg-boss";
import { expect, test } from "vitest";
import { JobStream } from "../../src/queue/job-stream.ts";
import { shareService } from "../support/service.ts";

const service = shareService({ start: false });

test("a job that is fetched during a stop is handed back to the queue", async () => {
  const { database, log } = service.service.parts;
  const boss = new PgBoss({ ...database.boss, supervise: false, schedule: false });
  await boss.start();
  const name = "stopped";
  await boss.createQueue(name, { heartbeatSeconds: 10 });
  const id = randomUUID();
  await boss.send(name, { subjectId: "a" }, { id });

  const fetched = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const slow = {
    async fetch(...asked: Parameters<PgBoss["fetch"]>) {
      const jobs = await boss.fetch(...asked);
      fetched.resolve();
      await answered.promise;
      return jobs;
    },
    complete: boss.complete.bind(boss),
    fail: boss.fail.bind(boss),
    touch: boss.touch.bind(boss),
  } as unknown as PgBoss;
  const stream = new JobStream(slow, name, log, {
    run: async () => {},
    concurrency: 2,
    groupConcurrency: 2,
  });
  stream.start();
  await fetched.promise;
  const stopped = stream.stop(60_000);
  setImmediate(() => answered.resolve());
  await stopped;
  expect((await boss.findJobs(name, { id }))[0]).toMatchObject({ state: "completed" });
  await boss.stop({ graceful: false, close: false });
});
