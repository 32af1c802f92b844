import type { Logger } from "pino";
import type { Db } from "../db/schema.ts";
import { logLevelOf } from "../lib/outages.ts";
import { rebase, retagMarked } from "./fair-queueing.ts";
import type { LeaderTask } from "./leader-election.ts";
import type { Queue } from "./queue.ts";

const RETAG_INTERVAL_MS = 10_000;
const SUPERVISE_INTERVAL_MS = 3_600_000;

/** Keeps the tags of queued jobs current and the queue's tables small. Run it in one process at a time. */
export function startQueueMaintenance(deps: { db: Db; queue: Queue; log: Logger }): LeaderTask {
  const stopped = new AbortController();
  let running = Promise.resolve();
  const run = () => {
    running = running
      .then(() => maintainQueue(deps, stopped.signal))
      .catch((error) =>
        deps.log[logLevelOf(error, "error")]({ err: error }, "could not update the tags of queued jobs"),
      );
  };
  const supervise = () => {
    running = running
      .then(() => deps.queue.supervise())
      .catch((error) =>
        deps.log[logLevelOf(error, "error")]({ err: error }, "the queue's tables could not be maintained"),
      );
  };
  run();
  supervise();
  const timers = [setInterval(run, RETAG_INTERVAL_MS), setInterval(supervise, SUPERVISE_INTERVAL_MS)];
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      stopped.abort();
      await running;
    },
  };
}

export async function maintainQueue({ db }: { db: Db }, signal: AbortSignal): Promise<void> {
  await retagMarked(db, signal);
  await rebase(db);
}
