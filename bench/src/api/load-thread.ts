import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Answers, Load } from "./load.ts";

/**
 * Sends requests from a worker thread, so that the client does not slow down the server. @throws if a status is not 200
 */
export async function runLoadInThread(load: Load): Promise<Answers> {
  const worker = new Worker(join(import.meta.dirname, "load.ts"), { workerData: load });
  try {
    const [answers] = (await once(worker, "message")) as [Answers];
    return answers;
  } finally {
    await worker.terminate();
  }
}
