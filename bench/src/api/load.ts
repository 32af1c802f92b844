import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

/** Parameters that the worker thread gets as `workerData`. */
export interface Load {
  url: string;
  headers: Record<string, string>;
  concurrency: number;
  milliseconds: number;
}

export interface Answers {
  perSecond: number;
  latenciesMs: number[];
}

/** @throws if a status is not 200 */
async function measure({ url, headers, concurrency, milliseconds }: Load): Promise<Answers> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      request(url, { agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} returned ${response.statusCode}`));
        response.on("end", resolve).resume();
      })
        .on("error", reject)
        .end();
    });
  await Promise.all(Array.from({ length: concurrency }, ask));
  const startedAt = performance.now();
  const latenciesMs: number[] = [];
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() - startedAt < milliseconds) {
        const sentAt = performance.now();
        await ask();
        latenciesMs.push(performance.now() - sentAt);
      }
    }),
  );
  const perSecond = (1000 * latenciesMs.length) / (performance.now() - startedAt);
  agent.destroy();
  return { perSecond, latenciesMs };
}

parentPort?.postMessage(await measure(workerData as Load));
