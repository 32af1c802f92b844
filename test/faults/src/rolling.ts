import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { SpawnedService } from "@subtext/bench/spawned-service";
import { printTable } from "@subtext/bench/table";
import { freePort } from "../../../server/test/support/free-port.ts";
import { readPadded } from "./recordings.ts";
import { startBalancer } from "./rolling/balancer.ts";
import { keepReading, keepUploading, type Reads, type Uploads } from "./rolling/load.ts";
import { startSharedStores } from "./stores.ts";

// Restarts each process of a deployment on PostgreSQL and S3 in turn, as an upgrade does, while clients upload and read
// through a load balancer that probes /healthz. Fails if a request fails or a job is lost.
// npm run bench:rolling -- [rounds]

const ROUNDS = Number(process.argv[2] ?? 1);
if (!Number.isInteger(ROUNDS) || ROUNDS < 1) throw new Error("rounds must be a positive integer");
const SAMPLE = resolve(import.meta.dirname, "../../../demo/sample/sample.mp4");
const ROLES = ["api", "api", "worker", "worker", "worker"] as const;
const READERS = 6;
/** Uploads over the slow connection take longer than a process takes to stop, so that restarts interrupt some. */
const SLOW_BYTES_PER_SECOND = 256 * 1024;
const SLOW_PADDING_BYTES = 5 * 1024 ** 2;
const QUEUE_TIMEOUT_MS = 300_000;

const folder = await mkdtemp(join(tmpdir(), "subtext-rolling-"));
// If this script runs as root, PostgreSQL runs as another user, which needs access.
await chmod(folder, 0o755);
const started = new AsyncDisposableStack();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void started.disposeAsync().finally(() => process.exit(1)));
}
const startedAt = performance.now();
let problems: string[] = [];
try {
  const stores = await startSharedStores(join(folder, "stores"), started);
  if (stores === null) throw new Error("PostgreSQL and python3-swift are required");
  const ports = await Promise.all(ROLES.map(() => freePort()));
  const apiPorts = ports.filter((_port, index) => ROLES[index] === "api");
  const balancer = await startBalancer(apiPorts, { slowBytesPerSecond: SLOW_BYTES_PER_SECOND });
  started.defer(() => balancer.close());
  const members = ROLES.map((role, index) => {
    const name = `${role} ${ROLES.slice(0, index + 1).filter((other) => other === role).length}`;
    const dataFolder = join(folder, name.replace(" ", "-"));
    const settings = {
      ...stores.settings({ databasePort: stores.databasePort, bucketPort: stores.bucketPort }),
      ROLE: role,
      PUBLIC_URL: balancer.url,
      SPEECH_THREADS: "1",
      LOG_LEVEL: "info",
    };
    const logFile = `${dataFolder}.log`;
    return {
      name,
      role,
      port: ports[index]!,
      service: new SpawnedService(dataFolder, ports[index]!, settings, { logFile }),
    };
  });
  started.defer(async () => void (await Promise.all(members.map(({ service }) => service.end("SIGKILL")))));

  const notified = new Set<string>();
  const receiver = createServer(async (request, response) => {
    const { data } = (await json(request)) as { data: { videoId: string } };
    notified.add(data.videoId);
    response.writeHead(204).end();
  }).listen(0, "127.0.0.1");
  started.defer(() => {
    receiver.close();
    receiver.closeAllConnections();
  });
  await once(receiver, "listening");
  const webhookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const tenant = await members[0]!.service.createTenant(webhookUrl);
  await Promise.all(members.map(({ service }) => service.start()));
  await Promise.all(apiPorts.map((port) => balancer.untilReady(port)));
  log("all processes are ready; the load starts");

  const reads: Reads = { requests: 0, failures: [], longestMs: 0 };
  const uploads: Uploads = { videoIds: [], failures: [], resumed: 0 };
  const slowUploads: Uploads = { videoIds: [], failures: [], resumed: 0 };
  const large = join(folder, "large.mp4");
  await writeFile(large, await readPadded(SAMPLE, SLOW_PADDING_BYTES));
  const { key } = tenant;
  const loadEnd = new AbortController();
  const load = [
    ...Array.from({ length: READERS }, () =>
      keepReading({ url: balancer.url, key, pauseMs: 40, videoIds: uploads.videoIds }, reads, loadEnd.signal),
    ),
    keepUploading({ url: balancer.url, key, pauseMs: 2_000, path: SAMPLE }, uploads, loadEnd.signal),
    keepUploading({ url: balancer.slowUrl, key, pauseMs: 0, path: large }, slowUploads, loadEnd.signal),
  ];
  await sleep(3_000);

  const restarts: string[][] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    for (const { name, role, port, service } of members) {
      const stopAt = performance.now();
      await service.end("SIGTERM");
      const startAt = performance.now();
      if (service.exitDescription !== "exit code 0")
        problems.push(`${name} did not stop cleanly: ${service.exitDescription}`);
      await service.start();
      if (role === "api") await balancer.untilReady(port);
      const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1);
      restarts.push([name, seconds(stopAt, startAt), seconds(startAt, performance.now())]);
      log(`${name} was restarted`);
    }
  }
  loadEnd.abort();
  await Promise.all(load);

  log("the load has ended; waiting for the queue to empty");
  const videoIds = [...uploads.videoIds, ...slowUploads.videoIds];
  const deadline = performance.now() + QUEUE_TIMEOUT_MS;
  const lost: string[] = [];
  for (const videoId of videoIds) {
    const { service } = members[0]!;
    let seen = await service.read(tenant, videoId);
    while ((seen?.status !== "COMPLETED" || !notified.has(videoId)) && performance.now() < deadline) {
      await sleep(250);
      seen = await service.read(tenant, videoId);
    }
    if (seen?.status !== "COMPLETED") lost.push(`${videoId} is ${seen?.status ?? "missing"}`);
    else if (!notified.has(videoId)) lost.push(`${videoId}: no webhook was received`);
  }
  await Promise.all(members.map(({ service }) => service.end("SIGTERM")));

  printTable("Rolling restarts", ["", "seconds to stop", "seconds until ready"], restarts);
  printTable(
    "Meanwhile, through a balancer that probes /healthz",
    ["", ""],
    [
      ["read requests", String(reads.requests)],
      ["read requests that failed", String(reads.failures.length)],
      ["longest read request, ms", reads.longestMs.toFixed(0)],
      ["uploads over a fast connection", String(uploads.videoIds.length)],
      ["… their requests that were interrupted and resumed", String(uploads.resumed)],
      ["uploads over a slow connection", String(slowUploads.videoIds.length)],
      ["… their requests that were interrupted and resumed", String(slowUploads.resumed)],
      ["uploads that failed", String(uploads.failures.length + slowUploads.failures.length)],
      ["jobs", String(videoIds.length)],
      ["jobs lost or without a webhook", String(lost.length)],
    ],
  );
  if (uploads.resumed > 0)
    problems.push(`${uploads.resumed} requests of uploads over a fast connection were interrupted`);
  problems = [...problems, ...reads.failures, ...uploads.failures, ...slowUploads.failures, ...lost];
} finally {
  await started.disposeAsync();
}
for (const problem of problems) console.error(`FOUND: ${problem}`);
if (problems.length === 0) await rm(folder, { recursive: true });
else console.error(`The logs of all processes are in ${folder}`);
process.exit(problems.length === 0 ? 0 : 1);

function log(what: string): void {
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${what}`);
}
