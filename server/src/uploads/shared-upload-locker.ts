import type { Lock, Locker } from "@tus/utils";
import type { DatabaseSession } from "../db/session.ts";
import { AppError } from "../lib/errors.ts";

/** A lost notification delays a waiting request by at most this time. */
const RECHECK_INTERVAL_MS = 1_000;

/**
 * Serializes the requests for an upload across processes. Within a process, requests take turns. Between processes, a
 * lock in the database decides, and waiting processes notify the holder to release it. A process that loses its
 * database connection loses its locks, so it aborts its writers.
 *
 * `lock` waits first for the requests of this process, then for those of others. It rejects with AppError
 * `upload_locked` if one of the two waits exceeds the timeout, or with the reason of its signal.
 */
export function createSharedUploadLocker({
  local,
  session,
  timeoutMs,
}: {
  local: Locker;
  session: DatabaseSession;
  timeoutMs: number;
}): Locker {
  /** Functions that make the holder in this process release the lock, keyed by upload. */
  const held = new Map<string, () => unknown>();
  /** Functions that wake the waiting request in this process, keyed by upload. */
  const waiting = new Map<string, () => void>();
  session.listen("subtext_upload_wanted", (id) => void held.get(id)?.());
  session.listen("subtext_upload_free", (id) => waiting.get(id)?.());
  session.onLost(() => {
    for (const release of held.values()) void release();
  });
  const nameOf = (id: string) => `upload ${id}`;

  async function lockInDatabase(id: string, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const woken = new Promise<void>((resolve) => waiting.set(id, resolve));
      try {
        signal.throwIfAborted();
        if (await session.tryLock(nameOf(id))) return;
        const leftMs = deadline - performance.now();
        if (leftMs <= 0) throw locked();
        await session.notify("subtext_upload_wanted", id);
        await waitUntilWoken(woken, Math.min(leftMs, RECHECK_INTERVAL_MS), signal);
      } finally {
        waiting.delete(id);
      }
    }
  }

  return {
    newLock(id): Lock {
      const turn = local.newLock(id);
      return {
        async lock(signal, requestRelease) {
          await turn.lock(signal, requestRelease);
          try {
            await lockInDatabase(id, signal);
          } catch (error) {
            await turn.unlock();
            throw error;
          }
          held.set(id, requestRelease);
        },

        async unlock() {
          held.delete(id);
          try {
            await session.unlock(nameOf(id));
            await session.notify("subtext_upload_free", id);
          } catch {
            // The lock was lost with the connection.
          } finally {
            await turn.unlock();
          }
        },
      };
    },
  };
}

/**
 * Waits until it is woken, or for the timeout.
 * @throws the signal's reason if it is aborted
 */
async function waitUntilWoken(woken: Promise<void>, timeoutMs: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const timeout = new Promise<void>((resolve, reject) => {
    timer = setTimeout(resolve, timeoutMs);
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
  });
  try {
    await Promise.race([woken, timeout]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function locked(): AppError {
  return new AppError("upload_locked", "Another request is writing to this upload.", {
    headers: { "retry-after": "1" },
  });
}
