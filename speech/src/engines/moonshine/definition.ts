import { stat } from "node:fs/promises";
import type { EngineDefinition } from "../definition.ts";
import type { MoonshineModel } from "./model.ts";
import { moonshinePaths } from "./model-paths.ts";

/** The bundled engine, which supports only English. */
export interface MoonshineSpec {
  kind: "moonshine";
}

/** Measured. The runtime copies and repacks the weights. */
const MEMORY_PER_FILE_BYTE = 9.6;

export const moonshine: EngineDefinition<MoonshineSpec> = {
  // A small model is faster with one copy per thread than with several threads per run: 145 instead of 122 × real time.
  workers: (threads) => ({ count: threads, threads: 1, dividesBatches: true }),
  prepare: async () => (await import("./model.ts")).readMoonshine(),
  async open(_, { prepared, ...options }) {
    const { openMoonshine } = await import("./moonshine.ts");
    return await openMoonshine({ model: prepared as Promise<MoonshineModel>, ...options });
  },
  async weightBytes() {
    const files = await Promise.all(Object.values(moonshinePaths()).map((path) => stat(path)));
    return files.reduce((sum, { size }) => sum + size, 0) * MEMORY_PER_FILE_BYTE;
  },
  modelName: () => "moonshine-tiny",
};
