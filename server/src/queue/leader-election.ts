import type { Logger } from "pino";
import type { DatabaseSession } from "../db/session.ts";
import { logLevelOf } from "../lib/outages.ts";

const CHECK_INTERVAL_MS = 30_000;

export interface LeaderTask {
  stop(): Promise<void>;
}

/**
 * Runs a task in the process that holds the lock with this name. If that process ends or loses its database connection,
 * another one soon takes over.
 */
export function runAsLeader(
  {
    session,
    log,
    checkIntervalMs = CHECK_INTERVAL_MS,
  }: {
    session: DatabaseSession;
    log: Logger;
    checkIntervalMs?: number;
  },
  name: string,
  start: () => LeaderTask,
): LeaderTask {
  let task: LeaderTask | null = null;
  let stopped = false;
  let checking: Promise<void> = Promise.resolve();

  const check = async () => {
    if (stopped || task || !(await session.tryLock(name))) return;
    log.info({ lock: name }, "this process is now the leader");
    task = start();
  };
  const checkSoon = () => {
    checking = checking
      .then(check)
      .catch((error) => log[logLevelOf(error, "warn")]({ err: error }, "could not request the leader lock"));
  };
  const stepDown = async () => {
    const current = task;
    task = null;
    await current?.stop();
  };
  session.onLost(() => {
    checking = checking.then(stepDown);
  });
  checkSoon();
  const timer = setInterval(checkSoon, checkIntervalMs);
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await checking;
      if (!task) return;
      await stepDown();
      await session.unlock(name);
    },
  };
}
