import type { Logger } from "pino";
import type { DatabaseSession } from "../db/session.ts";
import { logLevelOf } from "../lib/outages.ts";

const LOOK_EVERY_MS = 30_000;

/** Work that one process does for all. */
export interface LeaderTask {
  stop(): Promise<void>;
}

/**
 * Runs the work in one process at a time: in the one that holds the lock of this name, and in another one soon after
 * that process ends or loses the database.
 */
export function lead(
  {
    session,
    log,
    lookEveryMs = LOOK_EVERY_MS,
  }: {
    session: DatabaseSession;
    log: Logger;
    /** Tests pass a short interval. */
    lookEveryMs?: number;
  },
  name: string,
  begin: () => LeaderTask,
): LeaderTask {
  let office: LeaderTask | null = null;
  let stopped = false;
  let looking: Promise<void> = Promise.resolve();

  const look = async () => {
    if (stopped || office || !(await session.tryLock(name))) return;
    log.info({ office: name }, "this process is now the leader");
    office = begin();
  };
  const lookSoon = () => {
    looking = looking
      .then(look)
      .catch((error) => log[logLevelOf(error, "warn")]({ err: error }, "a lock could not be requested"));
  };
  const resign = async () => {
    const left = office;
    office = null;
    await left?.stop();
  };
  session.onLost(() => {
    looking = looking.then(resign);
  });
  lookSoon();
  const timer = setInterval(lookSoon, lookEveryMs);
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await looking;
      if (!office) return;
      await resign();
      await session.unlock(name);
    },
  };
}
