import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The fields of a profile of Node's `--cpu-prof` that are read here. */
interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  /** Microseconds. */
  timeDeltas: number[];
}

/**
 * Sums the seconds in each function over the profiles of all threads of a process. Excludes functions that the model
 * runtime's JavaScript calls to compute or to load models.
 */
export async function secondsByFunction(folder: string): Promise<ReadonlyMap<string, number>> {
  const functions = new Map<string, number>();
  for (const name of await readdir(folder)) {
    const { nodes, samples, timeDeltas } = JSON.parse(
      await readFile(join(folder, name), "utf8"),
    ) as CpuProfile;
    const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
    for (const [index, node] of samples.entries()) {
      const { functionName, url, lineNumber } = frames.get(node)!;
      if (functionName === "(idle)" || url.includes("onnxruntime-node/dist/backend.js")) continue;
      const place = url === "" ? "" : ` ${url.split("/").slice(-2).join("/")}:${lineNumber + 1}`;
      const key = `${functionName || "(anonymous)"}${place}`;
      functions.set(key, (functions.get(key) ?? 0) + (timeDeltas[index] ?? 0) / 1e6);
    }
  }
  return functions;
}
