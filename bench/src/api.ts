import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { PERMISSIONS } from "@subtext/client/contract/permission";
import { createApiKey } from "@subtext/server/api-keys/api-keys";
import { readConfig } from "@subtext/server/config/config";
import { createEnvironment } from "@subtext/server/environments/environments";
import { systemClock } from "@subtext/server/lib/clock";
import { newId } from "@subtext/server/lib/ids";
import { openService, type Service } from "@subtext/server/main";
import { createLog } from "@subtext/server/telemetry/log";
import { emitTestEvent } from "@subtext/server/webhooks/emit";
import { createWebhookEndpoint } from "@subtext/server/webhooks/endpoints";
import { fastify } from "fastify";
import { emitCompleted } from "../../server/test/support/emit-completed.ts";
import { freePort } from "../../server/test/support/free-port.ts";
import { runLoadInThread } from "./api/load-thread.ts";
import { printTable } from "./table.ts";

/**
 * Measures the throughput of GET requests for a transcription, compared with a bare Fastify route that runs one indexed
 * SELECT on the same database in the same process. Also measures the throughput and latency of webhooks. By default,
 * the database is the embedded one; `--database-url` takes the URL of an empty PostgreSQL database. `--only reads` and
 * `--only deliveries` run one part.
 */
const { values } = parseArgs({
  options: {
    "database-url": { type: "string" },
    seconds: { type: "string", default: "2" },
    rounds: { type: "string", default: "3" },
    deliveries: { type: "string", default: "1000" },
    only: { type: "string" },
  },
});

const folder = await mkdtemp(join(tmpdir(), "subtext-bench-"));
const config = readConfig({
  PORT: String(await freePort()),
  DATA_DIR: folder,
  DATABASE_URL: values["database-url"],
  LOG_LEVEL: "warn",
  MODEL_DOWNLOAD: "off",
  WEBHOOK_ALLOW_HTTP: "true",
  WEBHOOK_ALLOW_NETWORKS: "127.0.0.1/32",
  RATE_LIMIT_PER_SECOND: "1000000",
  RATE_LIMIT_BURST: "1000000",
});
const service = await openService({ config, log: createLog(config.logLevel) });
await service.start();
try {
  const { id: environmentId } = await createEnvironment(
    { db: service.parts.database.kysely, clock: systemClock },
    { name: "Bench", aiTranscription: true },
  );
  if (values.only !== "deliveries")
    printTable(
      `GET transcription, responses per second (${service.parts.database.kind})`,
      ["concurrency", "service", "bare route", "ratio", "CPU time per response (service, bare route)"],
      await measureReads(service, environmentId),
    );
  if (values.only !== "reads")
    printTable(
      "Webhooks to a receiver on this machine",
      ["events", "deliveries", "per second", "p50 from commit to receipt", "p99", "CPU time per delivery"],
      await measureDeliveries(service, environmentId, Number(values.deliveries)),
    );
} finally {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measureReads({ parts }: Service, environmentId: string): Promise<string[][]> {
  const db = parts.database.kysely;
  const { key } = await createApiKey(
    { db, clock: systemClock },
    { environmentId, name: "bench", permissions: [...PERMISSIONS], expiresAt: null },
  );
  const videoId = await emitCompleted({ parts }, environmentId);
  const bare = fastify();
  bare.get<{ Params: { id: string } }>("/videos/:id", ({ params }) =>
    db.selectFrom("transcription").selectAll().where("video_id", "=", params.id).executeTakeFirst(),
  );
  const bareUrl = await bare.listen({ host: "127.0.0.1", port: 0 });
  const targets = [
    {
      url: `${config.publicUrl}/api/v1/videos/${videoId}/transcription`,
      headers: { authorization: `Bearer ${key}` },
    },
    { url: `${bareUrl}/videos/${videoId}`, headers: {} },
  ];
  const rows: string[][] = [];
  for (const concurrency of [1, 16, 64]) {
    const sums = [0, 0];
    const cpuMs = [0, 0];
    // The targets alternate so that other load on the machine affects both.
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const [index, target] of targets.entries()) {
        const milliseconds = 1000 * Number(values.seconds);
        const before = process.threadCpuUsage();
        const { perSecond } = await runLoadInThread({ ...target, concurrency, milliseconds });
        const { user, system } = process.threadCpuUsage(before);
        sums[index]! += perSecond;
        cpuMs[index]! += (user + system) / 1000 / (perSecond * Number(values.seconds));
      }
    }
    const [serviceRate = 0, bareRate = 1] = sums.map((sum) => sum / Number(values.rounds));
    const [serviceMs, bareMs] = cpuMs.map((sum) => (sum / Number(values.rounds)).toFixed(2));
    rows.push([
      String(concurrency),
      serviceRate.toFixed(0),
      bareRate.toFixed(0),
      (serviceRate / bareRate).toFixed(2),
      `${serviceMs} ms, ${bareMs} ms`,
    ]);
  }
  await bare.close();
  return rows;
}

async function measureDeliveries(
  { parts }: Service,
  environmentId: string,
  count: number,
): Promise<string[][]> {
  const { database, queue, endpointPolicy: policy } = parts;
  const db = database.kysely;
  const receivedAt: number[] = [];
  const receiver = new Worker(join(import.meta.dirname, "api/receiver.ts"));
  const [port] = await once(receiver, "message");
  receiver.on("message", (at) => receivedAt.push(at - performance.timeOrigin));
  const endpoint = await createWebhookEndpoint(
    { db, clock: systemClock, policy },
    { environmentId, url: `http://127.0.0.1:${port}/` },
  );
  const emit = (events: number) =>
    db.transaction().execute(async (tx) => {
      for (let index = 0; index < events; index++) {
        await emitTestEvent({ tx, queue, now: new Date() }, endpoint, newId("delivery"));
      }
    });
  const untilReceived = async (webhooks: number) => {
    while (receivedAt.length < webhooks) await sleep(20);
    return receivedAt.splice(0);
  };

  await emit(count);
  const committedAt = performance.now();
  let before = process.threadCpuUsage();
  const takeCpuMs = () => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const burst = (await untilReceived(count)).map((at) => at - committedAt);
  const burstCpuMs = takeCpuMs();

  const latencies: number[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < Math.ceil(count / 5); index++) {
    await emit(1);
    const at = performance.now();
    const [received = at] = await untilReceived(1);
    latencies.push(received - at);
  }
  const elapsedMs = performance.now() - startedAt;
  const elapsedCpuMs = takeCpuMs();
  await receiver.terminate();
  const row = (name: string, times: number[], totalMs: number, totalCpuMs: number) => {
    const sorted = [...times].sort((a, b) => a - b);
    const at = (share: number) => `${sorted[Math.ceil(share * sorted.length) - 1]!.toFixed(0)} ms`;
    const rate = ((1000 * times.length) / totalMs).toFixed(0);
    const cpuMs = (totalCpuMs / times.length).toFixed(2);
    return [name, String(times.length), rate, at(0.5), at(0.99), `${cpuMs} ms`];
  };
  return [
    row("committed in one transaction", burst, burst.at(-1)!, burstCpuMs),
    row("committed one by one", latencies, elapsedMs, elapsedCpuMs),
  ];
}
