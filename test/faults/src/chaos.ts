import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { printTable } from "@subtext/bench/table";
import { EVENT_TYPES } from "@subtext/client/contract/webhook";
import { runCampaign, type Tally } from "./campaign.ts";
import {
  checkAnswers,
  checkFiles,
  checkRows,
  checkWhenSwept,
  hurryDeliveries,
  untilDelivered,
} from "./checks.ts";
import type { World } from "./fault.ts";
import { Fleet } from "./fleet.ts";
import { Receiver } from "./receiver.ts";
import { makeRecordings, transcribeBaseline } from "./recordings.ts";
import { reprocessWhatFaultsFailed, untilAllEnded } from "./recovery.ts";
import { seeded } from "./seeded.ts";
import { startSharedStores } from "./stores.ts";
import { Customer } from "./uploads.ts";

/**
 * The fault campaign: processes are killed and paused, stores go away and come back, disks fill and clocks jump
 * while videos are uploaded and transcribed; then it is looked at whether every one of them came to its right end.
 */
const { values } = parseArgs({
  options: {
    /** Faults that must have happened; 320 by default, 2 with `--break`. */
    faults: { type: "string" },
    /** Videos uploaded meanwhile, in addition to those of faults that upload; 200 by default, 4 with `--break`. */
    videos: { type: "string" },
    seed: { type: "string", default: "1" },
    /** Name prefixes of faults, separated by commas; all by default, with `--break` those that need a fence. */
    only: { type: "string" },
    /** `fence`: the writes of workers are no longer fenced, which must be noticed. */
    break: { type: "string" },
    /** One process with everything inside, also where PostgreSQL and an S3 server could be had. */
    embedded: { type: "boolean", default: false },
    minutes: { type: "string", default: "20" },
  },
});
if (values.break !== undefined && values.break !== "fence") throw new Error("--break takes: fence");
const {
  faults: wanted,
  videos,
  only,
} = values.break === undefined
  ? { faults: "320", videos: "200", only: "", ...values }
  : { faults: "2", videos: "4", only: "worker paused", ...values };
const seed = Number(values.seed);
const WORKERS = 3;

const folder = await mkdtemp(join(tmpdir(), "subtext-chaos-"));
// PostgreSQL runs as another user where this runs as root.
await chmod(folder, 0o755);
const beganAt = performance.now();
const started = new AsyncDisposableStack();
let ending: Promise<void> | undefined;
const endAll = () => (ending ??= started.disposeAsync());
for (const event of ["SIGINT", "SIGTERM", "uncaughtException", "unhandledRejection"]) {
  process.on(event, (reason: unknown) => {
    console.error(`ended by ${event}:`, reason);
    void endAll().finally(() => process.exit(1));
  });
}
let faults: string[] = [];
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
      : `one process with everything inside, seed ${seed}`,
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
  if (withoutDisk > 0) console.log("Full disks are skipped. To enable them: run as root, where it may mount");
  const tenant = await fleet.front.service.createTenant(receiver.url, [...EVENT_TYPES]);
  receiver.trust(tenant.webhookSecret ?? "");
  await fleet.start();
  const recordings = await makeRecordings(folder);
  const calm = await transcribeBaseline(fleet.front.service, tenant, recordings);
  const customer = new Customer(fleet.front.service, tenant);
  const world: World = {
    fleet,
    customer,
    recordings,
    uploads: [...calm].map(([videoId, recording]) => ({ videoId, recording, deletion: "none" })),
  };
  say("all is calm; now it begins");
  const tally = await runCampaign(world, {
    faults: Number(wanted),
    videos: Number(videos),
    seed,
    only: only.split(",").filter(Boolean),
    withinMs: Number(values.minutes) * 60_000,
  });

  await fleet.calm();
  say("all is calm again; waiting for the queue to end");
  const late = await untilAllEnded(world, tenant);
  const failed = await reprocessWhatFaultsFailed(world, tenant);
  if (failed.size > 0) late.push(...(await untilAllEnded(world, tenant)));
  say("the queue is empty; restarting all processes, which sweeps");
  await fleet.stop();
  const hurried = await fleet.front.service.inside(hurryDeliveries);
  await fleet.start();
  await untilDelivered(world, receiver);
  const answers = await checkAnswers(world, tenant);
  if (stores === null) await fleet.stop();
  const { service } = fleet.front;
  const reprocessed = new Set(failed.keys());
  const rows = await service.inside((parts) => checkRows(parts, world, { received: receiver, reprocessed }));
  const files = await checkWhenSwept(async () => await service.inside(checkFiles));
  faults = [
    ...late.map(({ upload, status }) => `${upload.videoId} ("${upload.recording.name}") is still ${status}`),
    ...answers,
    ...rows,
    ...files,
    ...receiver.complaints,
    ...customer.complaints,
    ...fleet.collapses,
    ...fleet.orphans().map((orphan) => `left without its parent: ${orphan}`),
    ...outages(failed),
  ];
  printTally(tally);
  printTable(
    "What came of it",
    ["", ""],
    [
      ["videos", String(world.uploads.length)],
      ["of these deleted", String(world.uploads.filter(({ deletion }) => deletion === "done").length)],
      ["failed by three hits, reprocessed", [...failed.values()].join(", ") || "0"],
      ["webhook requests, refused on purpose", `${receiver.requests}, ${receiver.refused}`],
      ["webhooks redelivered manually", String(hurried)],
      ["starts that failed while a store was away", String(fleet.failedStarts)],
      ["minutes", ((performance.now() - beganAt) / 60_000).toFixed(1)],
      ["faults found", String(faults.length)],
    ],
  );
} finally {
  await endAll();
}
for (const fault of faults) console.error(`FOUND: ${fault}`);
if (values.break !== undefined) {
  console.log(faults.length > 0 ? "The broken fence was noticed." : "The broken fence was NOT noticed.");
}
if (faults.length === 0 && values.break === undefined) await rm(folder, { recursive: true, force: true });
else console.error(`The logs of all processes are in ${folder}`);
process.exit((faults.length === 0) === (values.break === undefined) ? 0 : 1);

function say(what: string): void {
  console.log(`${((performance.now() - beganAt) / 1000).toFixed(0).padStart(5)} s  ${what}`);
}

/** No attempt may be used up by what passes by itself. */
function outages(failed: Map<string, string>): string[] {
  const hits = ["engine_crashed", "engine_hung", "engine_out_of_memory", "decoder_crashed", "model_unusable"];
  return [...failed]
    .filter(([, code]) => !hits.includes(code))
    .map(([videoId, code]) => `${videoId} was given up over an outage: ${code}`);
}

function printTally({ times, missed, total }: Tally): void {
  const names = [...new Set([...times.keys(), ...missed.keys()])].sort();
  printTable(
    `Faults that happened, seed ${seed}`,
    ["fault", "times", "nothing to hit"],
    [
      ...names.map((name) => [name, String(times.get(name) ?? 0), String(missed.get(name) ?? 0)]),
      ["all", String(total), ""],
    ],
  );
}
