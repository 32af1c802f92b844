import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** What Node's `--cpu-prof` writes, as far as it is read here. */
interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  /** Microseconds. */
  timeDeltas: number[];
}

/** Where the threads of one process spent their time. */
export interface Profile {
  /** Seconds in the runtime's own computing: the models' matrix work. */
  model: number;
  /** Seconds of loading models, which a process does once. */
  loading: number;
  /** Seconds in everything else, by function. */
  others: ReadonlyMap<string, number>;
}

/**
 * Adds up the profiles of all threads. A run of a model is one call, made on the thread of its lane, from
 * the runtime's own JavaScript: what is sampled there is matrix work.
 */
export async function readProfiles(folder: string): Promise<Profile> {
  const profile = { model: 0, loading: 0 };
  const others = new Map<string, number>();
  for (const name of await readdir(folder)) {
    const { nodes, samples, timeDeltas } = JSON.parse(
      await readFile(join(folder, name), "utf8"),
    ) as CpuProfile;
    const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
    for (const [index, node] of samples.entries()) {
      const { functionName, url, lineNumber } = frames.get(node)!;
      const seconds = (timeDeltas[index] ?? 0) / 1e6;
      if (functionName === "(idle)") continue;
      if (url.includes("onnxruntime-node/dist/backend.js")) {
        profile[functionName === "OnnxruntimeSessionHandler" ? "loading" : "model"] += seconds;
      } else {
        const place = url === "" ? "" : ` ${url.split("/").slice(-2).join("/")}:${lineNumber + 1}`;
        const key = `${functionName || "(anonymous)"}${place}`;
        others.set(key, (others.get(key) ?? 0) + seconds);
      }
    }
  }
  return { ...profile, others };
}
