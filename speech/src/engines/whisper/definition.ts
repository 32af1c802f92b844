import type { EngineDefinition } from "../definition.ts";

export interface WhisperSpec {
  kind: "whisper";
  /** Absolute. */
  folder: string;
}

export const whisper: EngineDefinition<WhisperSpec> = {
  // The weights are large, so all threads share one copy.
  workers: (threads) => ({ count: 1, threads, dividesBatches: false }),
  async open({ folder }, { threads, batchShare = 1 }) {
    const { openWhisper } = await import("./whisper.ts");
    return await openWhisper({ folder, threads, batchShare });
  },
  weightBytes: async ({ folder }) => (await import("./graph-files.ts")).graphWeightBytes(folder),
  modelName: ({ folder }) => folder,
};
