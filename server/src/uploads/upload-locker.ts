import type { Locker, RequestRelease } from "@tus/utils";
import { AppError } from "../lib/errors.ts";

interface Turn {
  /** Asks the current holder to release the lock. */
  requestRelease: RequestRelease;
  begin(): void;
}

/**
 * Serializes requests for an upload within this process, in the order of their arrival. When the holder releases the
 * lock, it wakes the next caller. The locker of `@tus/server` would poll at every turn of the event loop.
 *
 * If `lock` gives up, it rejects with AppError `upload_locked`, or with the reason of its signal.
 */
export function createUploadLocker({ timeoutMs }: { timeoutMs: number }): Locker {
  /** By upload; the first caller of each queue has the lock. */
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
          if (queue[0] !== turn) await waitForTurn(queue, turn, signal, timeoutMs);
        },

        async unlock() {
          const queue = queues.get(id);
          if (!mine || queue?.[0] !== mine)
            throw new Error("a request without the lock has tried to release it");
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

function waitForTurn(queue: Turn[], turn: Turn, signal: AbortSignal, timeoutMs: number): Promise<void> {
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
    // In a microtask, so that a holder that unlocks immediately finds this turn waiting.
    Promise.resolve(queue[0])
      .then((holder) => holder?.requestRelease())
      .catch(giveUp);
  });
}
