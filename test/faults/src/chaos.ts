import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { seeded } from "@subtext/bench/seeded";
import { printTable } from "@subtext/bench/table";
import { EVENT_TYPES } from "@subtext/client/contract/webhook";
import { runCampaign, type Tally } from "./campaign.ts";
import {
  checkAfterSweep,
  checkFiles,
  checkResponses,
  checkRows,
  redeliverPending,
  waitUntilDelivered,
} from "./checks.ts";
import type { World } from "./faults/fault.ts";
import { Fleet } from "./fleet.ts";
import { Receiver } from "./receiver.ts";
import { makeRecordings, transcribeBaseline } from "./recordings.ts";
import { reprocessFailed, waitUntilAllEnded } from "./recovery.ts";
import { startSharedStores } from "./stores.ts";
import { Customer } from "./uploads.ts";

/**
 * The fault campaign: while videos are uploaded and transcribed, it kills and pauses processes, makes stores
 * unavailable, fills disks and shifts clocks. Then it checks that every video reached its expected state.
 */
const { values } = parseArgs({
  options: {
    /** Number of faults to inject; 320 by default, 2 with `--break`. */
    faults: { type: "string" },
    /** Number of videos to upload, in addition to the uploads of faults; 200 by default, 4 with `--break`. */
    videos: { type: "string" },
    seed: { type: "string", default: "1" },
    /**
     * Name prefixes of faults, separated by commas. By default all faults, with `--break` those that require the fence.
     */
    only: { type: "string" },
    /** `fence` disables the fencing of workers. The run then succeeds only if the campaign detects it. */
    break: { type: "string" },
    /** Tests one process with the embedded database even if PostgreSQL and an S3 server are installed. */
    embedded: { type: "boolean", default: false },
    minutes: { type: "string", default: "20" },
  },
});
if (values.break !== undefined && values.break !== "fence") throw new Error("--break must be: fence");
const {
  faults: faultCount,
  videos,
  only,
} = values.break === undefined
  ? { faults: "320", videos: "200", only: "", ...values }
  : { faults: "2", videos: "4", only: "worker paused", ...values };
const seed = Number(values.seed);
const WORKERS = 3;

const folder = await mkdtemp(join(tmpdir(), "subtext-chaos-"));
// If this script runs as root, PostgreSQL runs as another user, which needs access.
await chmod(folder, 0o755);
const startedAt = performance.now();
const started = new AsyncDisposableStack();
let ending: Promise<void> | undefined;
const endAll = () => (ending ??= started.disposeAsync());
for (const event of ["SIGINT", "SIGTERM", "uncaughtException", "unhandledRejection"]) {
  process.on(event, (reason: unknown) => {
    console.error(`ended by ${event}:`, reason);
    void endAll().finally(() => process.exit(1));
  });
}
let problems: string[] = [];
try {
  const stores = values.embedded ? null : await startSharedStores(join(folder, "stores"), started);
  if (!stores && !values.embedded) {
    const missing = "PostgreSQL and S3 are skipped. To enable them: apt-get install postgresql python3-swift";
    if (process.env.CI === "true") throw new Error(missing);
    console.log(missing);
  }
  console.log(
    stores
      ? `1 api process and ${WORKERS} workers on PostgreSQL and an S3 server, seed ${seed}`
      : `one process with the embedded database, seed ${seed}`,
  );
  const receiver = await Receiver.start(seed);
  started.defer(() => receiver.close());
  const fleet = new Fleet({
    folder,
    stores,
    workers: WORKERS,
    breakFence: values.break === "fence",
    random: seeded(seed + 1),
  });
  started.defer(async () => await fleet.close());
  await fleet.open();
  const withoutDisk = fleet.members.filter(({ disk }) => disk === null).length;
  if (withoutDisk > 0)
    console.log("Full disks are skipped. To enable them: run as root with permission to mount");
  const tenant = await fleet.front.service.createTenant(receiver.url, [...EVENT_TYPES]);
  receiver.trust(tenant.webhookSecret ?? "");
  await fleet.start();
  const recordings = await makeRecordings(folder);
  const baseline = await transcribeBaseline(fleet.front.service, tenant, recordings);
  const customer = new Customer(fleet.front.service, tenant);
  const world: World = {
    fleet,
    customer,
    recordings,
    uploads: [...baseline].map(([videoId, recording]) => ({ videoId, recording, deletion: "none" })),
  };
  log("the baseline is complete; the campaign starts");
  const tally = await runCampaign(world, {
    faults: Number(faultCount),
    videos: Number(videos),
    seed,
    only: only.split(",").filter(Boolean),
    withinMs: Number(values.minutes) * 60_000,
  });

  await fleet.endFaults();
  log("all faults are over; waiting for the queue to empty");
  const late = await waitUntilAllEnded(world, tenant);
  const failed = await reprocessFailed(world, tenant);
  if (failed.size > 0) late.push(...(await waitUntilAllEnded(world, tenant)));
  log("the queue is empty; restarting all processes, which runs the sweeps");
  await fleet.stop();
  const redelivered = await fleet.front.service.withParts(redeliverPending);
  await fleet.start();
  await waitUntilDelivered(world, receiver);
  const responses = await checkResponses(world, tenant);
  if (stores === null) await fleet.stop();
  const { service } = fleet.front;
  const reprocessed = new Set(failed.keys());
  const rows = await service.withParts((parts) =>
    checkRows(parts, world, { received: receiver, reprocessed }),
  );
  const files = await checkAfterSweep(async () => await service.withParts(checkFiles));
  problems = [
    ...late.map(({ upload, status }) => `${upload.videoId} ("${upload.recording.name}") is still ${status}`),
    ...responses,
    ...rows,
    ...files,
    ...receiver.problems,
    ...customer.problems,
    ...fleet.unexpectedExits,
    ...fleet.orphans().map((orphan) => `orphaned process: ${orphan}`),
    ...outages(failed),
  ];
  printTally(tally);
  printTable(
    "Results",
    ["", ""],
    [
      ["videos", String(world.uploads.length)],
      ["videos deleted", String(world.uploads.filter(({ deletion }) => deletion === "done").length)],
      ["failed after three crashes, reprocessed", [...failed.values()].join(", ") || "0"],
      ["webhook requests, deliberately rejected", `${receiver.requests}, ${receiver.rejected}`],
      ["webhooks redelivered manually", String(redelivered)],
      ["starts that failed while a store was unavailable", String(fleet.failedStarts)],
      ["minutes", ((performance.now() - startedAt) / 60_000).toFixed(1)],
      ["problems found", String(problems.length)],
    ],
  );
} finally {
  await endAll();
}
for (const problem of problems) console.error(`FOUND: ${problem}`);
if (values.break !== undefined) {
  console.log(problems.length > 0 ? "The broken fence was detected." : "The broken fence was NOT detected.");
}
if (problems.length === 0 && values.break === undefined) await rm(folder, { recursive: true, force: true });
else console.error(`The logs of all processes are in ${folder}`);
process.exit((problems.length === 0) === (values.break === undefined) ? 0 : 1);

function log(what: string): void {
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${what}`);
}

/** Returns transcriptions that failed because of an outage, although outages must not use up attempts. */
function outages(failed: Map<string, string>): string[] {
  const crashes = [
    "engine_crashed",
    "engine_hung",
    "engine_out_of_memory",
    "decoder_crashed",
    "model_unusable",
  ];
  return [...failed]
    .filter(([, code]) => !crashes.includes(code))
    .map(([videoId, code]) => `${videoId} failed because of an outage: ${code}`);
}

function printTally({ times, missed, total }: Tally): void {
  const names = [...new Set([...times.keys(), ...missed.keys()])].sort();
  printTable(
    `Faults that happened, seed ${seed}`,
    ["fault", "times", "not applied"],
    [
      ...names.map((name) => [name, String(times.get(name) ?? 0), String(missed.get(name) ?? 0)]),
      ["all", String(total), ""],
    ],
  );
}
