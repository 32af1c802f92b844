import { AsyncLocalStorage } from "node:async_hooks";
import { isOutage } from "./outages.ts";

interface Pending<Item, Result> {
  item: Item;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (reason: unknown) => void;
}

/**
 * Coalesces concurrent calls into batches. Nothing is cached: a batch starts after all of its calls, so each result is
 * as fresh as that of a separate call.
 *
 * @param runBatch returns the results in the order of the items. A rejected promise as a result fails only its own
 *   call. If the whole batch fails, each item runs separately, except during an outage
 */
export function createBatcher<Item, Result>(
  runBatch: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>,
  { maxConcurrency, maxBatchSize }: { maxConcurrency: number; maxBatchSize: number },
): (item: Item) => Promise<Result> {
  const queue: Pending<Item, Result>[] = [];
  let running = 0;
  let isScheduled = false;
  // A batch serves several callers, so it must not run in the transaction of one of them.
  const runOutsideCaller = AsyncLocalStorage.snapshot();

  /** Starts the batch after this turn of the event loop, so that all calls of the turn share it. */
  function schedule(): void {
    if (isScheduled || running >= maxConcurrency) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void run();
    });
  }

  async function run(): Promise<void> {
    const batch = queue.splice(0, maxBatchSize);
    running += 1;
    try {
      const results = await runBatch(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => void resolve(results[index]!));
    } catch (error) {
      const failsAll = batch.length === 1 || isOutage(error);
      for (const { item, resolve, reject } of batch) {
        if (failsAll) reject(error);
        // A single item may have caused the failure.
        else await runBatch([item]).then(([result]) => resolve(result!), reject);
      }
    } finally {
      running -= 1;
      if (queue.length > 0) runOutsideCaller(schedule);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      runOutsideCaller(schedule);
    });
}
