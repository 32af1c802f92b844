import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_PAGE_SIZE } from "@subtext/client/contract/page";
import { createApiKey } from "@subtext/server/api-keys/api-keys";
import { createEnvironment } from "@subtext/server/environments/environments";
import { mean } from "@subtext/speech/alignment/timed-words";
import { emitCompleted } from "../../../server/test/support/emit-completed.ts";
import { freePort } from "../../../server/test/support/free-port.ts";
import { bucketEnv, makeTestBucket } from "../../../server/test/support/test-bucket.ts";
import { startReceiver } from "../queue/cost.ts";
import type { QueueParts } from "../queue/videos.ts";
import { SpawnedService } from "../spawned-service.ts";
import { quantile } from "../statistics.ts";
import { printTable } from "../table.ts";
import { runLoadInThread } from "./load-thread.ts";
import {
  countCompleted,
  countOpen,
  startTranscribingWorker,
  startWaitingWorkers,
  uploadRecordings,
  WAITING_WORKERS,
} from "./worker-load.ts";

const SCRIPTS = resolve(import.meta.dirname, "../../../scripts");
const BUCKET = "subtext-bench";

const CONCURRENCIES = [1, 16, 64];
const READ_MS = 1_250;
const WITHOUT_READS_MS = 3_000;

interface Read {
  name: string;
  url: string;
}

/** Load on the workers during the reads. */
interface Scenario {
  name: string;
  /** Starts workers that stop when `resources` is disposed. Resolves when all workers are busy. */
  start(resources: AsyncDisposableStack): Promise<void>;
}

/** All rounds of one combination of read, concurrency and scenario. */
interface Cell {
  latenciesMs: number[];
  perSecond: number[];
}

interface Throughput {
  videos: number;
  seconds: number;
}

/**
 * Measures the response times of an `api` process in three cases: no workers run on the machine, workers keep
 * PostgreSQL busy with an engine that only waits, or a worker transcribes on all cores. Also measures the workers'
 * throughput with and without reads. The cases alternate so that other load on the machine affects all of them. Files
 * are stored on an S3 server, which requires Debian's python3-swift.
 */
export async function measureApiUnderLoad(
  parts: QueueParts,
  { url, folder, rounds }: { url: string; folder: string; rounds: number },
): Promise<void> {
  await using started = new AsyncDisposableStack();
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const interrupt = () => interrupted.abort(new Error(`interrupted by ${signal}`));
    process.once(signal, interrupt);
    started.defer(() => void process.off(signal, interrupt));
  }
  const settings = { DATABASE_URL: url, ...(await startBucket(join(folder, "s3"), started)) };
  const api = new SpawnedService(join(folder, "api"), await freePort(), {
    ...settings,
    ROLE: "api",
    DRAIN_SECONDS: "0",
  });
  const receiver = await startReceiver();
  started.defer(() => receiver.close());
  const tenant = await api.createTenant(receiver.url);
  const { key: readerKey, reads } = await createReads(api);
  started.defer(() => api.end("SIGKILL"));
  await api.start();

  const scenarios: Scenario[] = [
    { name: "no workers", start: async () => {} },
    {
      name: `${WAITING_WORKERS} waiting workers`,
      start: (resources) => startWaitingWorkers(parts, { url, folder, tenant }, resources),
    },
    {
      name: "1 transcribing worker",
      start: async (resources) => {
        await uploadRecordings(api, tenant);
        await startTranscribingWorker(parts, { settings, folder }, resources);
      },
    },
  ];
  const cells = new Map<string, Cell>();
  const throughputs = new Map<string, Throughput>();
  for (let round = 0; round < rounds; round++) {
    for (const scenario of scenarios) {
      await using resources = new AsyncDisposableStack();
      await scenario.start(resources);
      const countCompletedDuring = async (readers: number, action: () => Promise<unknown>) => {
        interrupted.signal.throwIfAborted();
        const key = `${scenario.name} ${readers}`;
        const before = await countCompleted(parts);
        const startedAt = performance.now();
        await action();
        const sum = throughputs.get(key) ?? { videos: 0, seconds: 0 };
        sum.seconds += (performance.now() - startedAt) / 1000;
        sum.videos += (await countCompleted(parts)) - before;
        throughputs.set(key, sum);
      };
      if (scenario !== scenarios[0]) await countCompletedDuring(0, () => sleep(WITHOUT_READS_MS));
      for (const concurrency of CONCURRENCIES) {
        for (const read of reads) {
          await countCompletedDuring(concurrency, async () => {
            const headers = { authorization: `Bearer ${readerKey}` };
            const load = { url: read.url, headers, concurrency, milliseconds: READ_MS };
            const { perSecond, latenciesMs } = await runLoadInThread(load);
            const key = `${read.name} ${concurrency} ${scenario.name}`;
            const cell = cells.get(key) ?? { latenciesMs: [], perSecond: [] };
            cell.perSecond.push(perSecond);
            for (const latencyMs of latenciesMs) cell.latenciesMs.push(latencyMs);
            cells.set(key, cell);
          });
        }
      }
      if (scenario !== scenarios[0] && (await countOpen(parts)) === 0)
        throw new Error(`${scenario.name}: the queue ran empty during the measurement`);
    }
  }
  printReads(reads, scenarios, cells);
  printThroughput(scenarios.slice(1), throughputs);
}

function printReads(reads: Read[], scenarios: Scenario[], cells: Map<string, Cell>): void {
  const lines = reads.flatMap(({ name }) =>
    CONCURRENCIES.flatMap((concurrency) => {
      const cellOf = (scenario: Scenario) => cells.get(`${name} ${concurrency} ${scenario.name}`)!;
      const rateOf = (scenario: Scenario) => mean(cellOf(scenario).perSecond);
      return scenarios.map((scenario) => {
        const { latenciesMs } = cellOf(scenario);
        return [
          name,
          String(concurrency),
          scenario.name,
          rateOf(scenario).toFixed(0),
          (rateOf(scenario) / rateOf(scenarios[0]!)).toFixed(2),
          `${quantile(latenciesMs, 0.5).toFixed(1)} ms`,
          `${quantile(latenciesMs, 0.99).toFixed(1)} ms`,
        ];
      });
    }),
  );
  printTable(
    "GET requests to an api process, with workers on the same machine",
    ["", "concurrency", "workers", "responses per second", "relative to no workers", "p50", "p99"],
    lines,
  );
}

function printThroughput(scenarios: Scenario[], throughputs: Map<string, Throughput>): void {
  const lines = scenarios.flatMap(({ name }) => {
    const rateOf = (readers: number) => {
      const { videos, seconds } = throughputs.get(`${name} ${readers}`)!;
      return videos / seconds;
    };
    return [0, ...CONCURRENCIES].map((readers) => [
      name,
      String(readers),
      String(throughputs.get(`${name} ${readers}`)!.videos),
      rateOf(readers).toFixed(1),
      rateOf(0) > 0 ? (rateOf(readers) / rateOf(0)).toFixed(2) : "-",
    ]);
  });
  printTable(
    "Throughput of the workers during the reads",
    ["", "concurrent reads", "videos", "videos per second", "relative to no reads"],
    lines,
  );
}

/** Creates an environment with completed videos. Returns its key and the requests that read it. */
async function createReads(api: SpawnedService): Promise<{ key: string; reads: Read[] }> {
  return await api.withParts(async (parts) => {
    const deps = { db: parts.database.kysely, clock: parts.clock };
    const { id: environmentId } = await createEnvironment(deps, { name: "Readers", aiTranscription: true });
    const { key } = await createApiKey(deps, {
      environmentId,
      name: "bench",
      permissions: ["get_video"],
      expiresAt: null,
    });
    let videoId = "";
    for (let number = 0; number < 2 * DEFAULT_PAGE_SIZE; number++) {
      videoId = await emitCompleted({ parts }, environmentId);
    }
    const reads = [
      { name: "transcription", url: `${api.url}/api/v1/videos/${videoId}/transcription` },
      { name: `list of ${DEFAULT_PAGE_SIZE} videos`, url: `${api.url}/api/v1/videos` },
    ];
    return { key, reads };
  });
}

/**
 * Starts an S3 server. Returns the settings of a process that stores its files there.
 * @throws if Swift is not installed
 */
async function startBucket(folder: string, started: AsyncDisposableStack): Promise<Record<string, string>> {
  const run = (script: string) =>
    execFileSync(join(SCRIPTS, script), [folder], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
  const s3 = JSON.parse(run("start-s3")) as Parameters<typeof bucketEnv>[0];
  started.defer(() => void run("stop-s3"));
  await makeTestBucket(s3, BUCKET);
  return bucketEnv(s3, BUCKET);
}
