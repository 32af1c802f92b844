import type { Locker, RequestRelease } from "@tus/utils";
import { AppError } from "../lib/errors.ts";

interface Turn {
  /** Asks the one whose turn it is to make an end. */
  requestRelease: RequestRelease;
  begin(): void;
}

/**
 * Lets one request at a time touch an upload, in the order in which they came. The locker of
 * `@tus/server` looks again at every turn of the event loop while it waits; here the one who leaves
 * wakes the next. It holds within this process.
 *
 * A `lock` that gives up rejects with AppError `upload_locked`, or with the reason of its signal.
 */
export function createUploadLocker({ timeoutMs }: { timeoutMs: number }): Locker {
  /** By upload; the first of each has the lock. */
  const queues = new Map<string, Turn[]>();

  return {
    newLock(id) {
      let mine: Turn | undefined;
      return {
        async lock(signal, requestRelease) {
          signal.throwIfAborted();
          const queue = queues.get(id) ?? [];
          const turn: Turn = { requestRelease, begin: () => {} };
          mine = turn;
          queue.push(turn);
          queues.set(id, queue);
          if (queue[0] !== turn) await turnCome(queue, turn, signal, timeoutMs);
        },

        async unlock() {
          const queue = queues.get(id);
          if (!mine || queue?.[0] !== mine) throw new Error("an upload was unlocked by one who had no lock");
          queue.shift();
          const [next, another] = queue;
          if (!next) queues.delete(id);
          next?.begin();
          if (another) await next?.requestRelease();
        },
      };
    },
  };
}

function turnCome(queue: Turn[], turn: Turn, signal: AbortSignal, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    const giveUp = (reason: unknown) => {
      settle();
      if (queue[0] !== turn && queue.includes(turn)) queue.splice(queue.indexOf(turn), 1);
      reject(reason);
    };
    const onAbort = () => giveUp(signal.reason);
    const timer = setTimeout(() => {
      giveUp(
        new AppError("upload_locked", "Another request is writing to this upload.", {
          headers: { "retry-after": "1" },
        }),
      );
    }, timeoutMs);
    signal.addEventListener("abort", onAbort);
    turn.begin = () => {
      settle();
      resolve();
    };
    // In a microtask, for a holder that unlocks at once finds this turn waiting.
    Promise.resolve(queue[0])
      .then((holder) => holder?.requestRelease())
      .catch(giveUp);
  });
}
