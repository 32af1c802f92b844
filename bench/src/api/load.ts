import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

/** The thread's `workerData`. */
export interface Load {
  url: string;
  headers: Record<string, string>;
  concurrency: number;
  milliseconds: number;
}

export interface LoadResult {
  perSecond: number;
  latenciesMs: number[];
}

/** @throws if a response is not 200 */
async function measure({ url, headers, concurrency, milliseconds }: Load): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const send = () =>
    new Promise<void>((resolve, reject) => {
      request(url, { agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} returned ${response.statusCode}`));
        response.on("end", resolve).resume();
      })
        .on("error", reject)
        .end();
    });
  await Promise.all(Array.from({ length: concurrency }, send));
  const startedAt = performance.now();
  const latenciesMs: number[] = [];
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() - startedAt < milliseconds) {
        const sentAt = performance.now();
        await send();
        latenciesMs.push(performance.now() - sentAt);
      }
    }),
  );
  const perSecond = (1000 * latenciesMs.length) / (performance.now() - startedAt);
  agent.destroy();
  return { perSecond, latenciesMs };
}

parentPort?.postMessage(await measure(workerData as Load));
