import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

/** What a worker of `api.ts` is told: ask for one address, so many at a time, for so long. */
export interface Load {
  url: string;
  headers: Record<string, string>;
  concurrency: number;
  milliseconds: number;
}

/** Answers a second. Throws where one is not 200. */
async function measure({ url, headers, concurrency, milliseconds }: Load): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      request(url, { agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
        response.on("end", resolve).resume();
      })
        .on("error", reject)
        .end();
    });
  await Promise.all(Array.from({ length: concurrency }, ask));
  const startedAt = performance.now();
  let answers = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() - startedAt < milliseconds) {
        await ask();
        answers += 1;
      }
    }),
  );
  const perSecond = (1000 * answers) / (performance.now() - startedAt);
  agent.destroy();
  return perSecond;
}

parentPort?.postMessage(await measure(workerData as Load));
