import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Load, LoadResult } from "./load.ts";

/**
 * Sends requests from a worker thread, so that the client does not slow down the server.
 * @throws if a response is not 200
 */
export async function runLoadInThread(load: Load): Promise<LoadResult> {
  const worker = new Worker(join(import.meta.dirname, "load.ts"), { workerData: load });
  try {
    const [result] = (await once(worker, "message")) as [LoadResult];
    return result;
  } finally {
    await worker.terminate();
  }
}
