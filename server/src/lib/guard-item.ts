import type { Logger } from "pino";
import { isOutage } from "./outages.ts";

export interface ItemDeps {
  log: Logger;
  /** Called for each row or file that a task failed to process. `task` is a metric label. */
  onItemFailed?: ((task: string) => void) | undefined;
}

/**
 * Processes one of many rows or files. Logs and counts a failure, so that the caller continues with the next item.
 * @param item identifies the row or file in the log
 * @returns undefined if processing failed
 * @throws only during an outage, in which the remaining items would fail too
 */
export async function guardItem<T>(
  { log, onItemFailed }: ItemDeps,
  item: { task: string } & Record<string, unknown>,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isOutage(error)) throw error;
    onItemFailed?.(item.task);
    log.error({ err: error, ...item }, "could not process an item; continuing with the next");
    return undefined;
  }
}
