import type { Locker, RequestRelease } from "@tus/utils";
import { AppError } from "../lib/errors.ts";

interface Turn {
  requestRelease: RequestRelease;
  begin(): void;
}

/**
 * Serializes the requests for an upload within this process, in the order of arrival. A release wakes the next request,
 * whereas the locker of `@tus/server` polls in every turn of the event loop.
 *
 * `lock` rejects with AppError `upload_locked` after the timeout, or with the reason of its signal.
 */
export function createUploadLocker({ timeoutMs }: { timeoutMs: number }): Locker {
  /** Keyed by upload. The first request of each queue has the lock. */
  const queues = new Map<string, Turn[]>();

  return {
    newLock(id) {
      let ownTurn: Turn | undefined;
      return {
        async lock(signal, requestRelease) {
          signal.throwIfAborted();
          const queue = queues.get(id) ?? [];
          const turn: Turn = { requestRelease, begin: () => {} };
          ownTurn = turn;
          queue.push(turn);
          queues.set(id, queue);
          if (queue[0] !== turn) await waitForTurn(queue, turn, signal, timeoutMs);
        },

        async unlock() {
          const queue = queues.get(id);
          if (!ownTurn || queue?.[0] !== ownTurn)
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
    // In a microtask, so that the holder finds this request waiting even if it releases the lock immediately.
    Promise.resolve(queue[0])
      .then((holder) => holder?.requestRelease())
      .catch(giveUp);
  });
}
