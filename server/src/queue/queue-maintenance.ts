import type { Logger } from "pino";
import type { Db } from "../db/schema.ts";
import { logLevelOf } from "../lib/outages.ts";
import { rebase, retagMarked } from "./fair-queueing.ts";
import type { LeaderTask } from "./leader-election.ts";

const EVERY_MS = 10_000;

/** Keeps the tags of queued jobs up to date. One process does it at a time. */
export function startQueueMaintenance(deps: { db: Db; log: Logger }): LeaderTask {
  const stopped = new AbortController();
  let running = Promise.resolve();
  const run = () => {
    running = running
      .then(() => maintainQueue(deps, stopped.signal))
      .catch((error) =>
        deps.log[logLevelOf(error, "error")]({ err: error }, "the queue's tags could not be updated"),
      );
  };
  run();
  const timer = setInterval(run, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      stopped.abort();
      await running;
    },
  };
}

export async function maintainQueue({ db }: { db: Db }, signal: AbortSignal): Promise<void> {
  await retagMarked(db, signal);
  await rebase(db);
}
