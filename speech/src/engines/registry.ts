import { stat } from "node:fs/promises";
import { SpeechError } from "../errors.ts";
import type { Engine } from "./engine.ts";
import type { MoonshineModel } from "./moonshine/model.ts";
import { moonshinePaths } from "./moonshine/model-paths.ts";

/** What identifies each kind of engine and its model: plain data, because it is sent to speech processes. */
export interface EngineSpecs {
  /** The bundled engine: English only, comes with the package. */
  moonshine: { kind: "moonshine" };
  whisper: {
    kind: "whisper";
    /** Absolute. */
    folder: string;
  };
  openai: {
    kind: "openai";
    servers: { url: string; apiKey: string | null }[];
    model: string;
    /** As in `OpenAiOptions`: for interactive programs. */
    failsIfUnreachable?: boolean;
  };
}

export type EngineSpec = EngineSpecs[keyof EngineSpecs];

/** `auto` selects the best available engine; every other choice selects only that engine. */
export const ENGINE_CHOICES = ["auto", "moonshine", "whisper", "openai"] as const;
export type EngineChoice = (typeof ENGINE_CHOICES)[number];

/**
 * How one kind of engine is opened. Engine modules are imported on demand: a process that only chooses engines
 * must not load the ONNX runtime.
 */
interface EngineDefinition<Spec extends EngineSpec> {
  /** Worker threads that run the model, and threads for each run. Null if the engine computes on other machines. */
  workers(threads: number): { count: number; threads: number } | null;
  /**
   * Reads what all workers share. Runs in a thread of its own, which ends afterwards: reading may leave a heap that
   * every garbage collection would have to scan. The result is structured-cloned.
   */
  prepare?(): Promise<unknown>;
  /** @throws SpeechError `model_unusable` */
  open(spec: Spec, options: { threads: number; batchShare?: number; prepared: unknown }): Promise<Engine>;
  /** Bytes of the model files that a process loads. Memory grows in proportion to them. */
  modelFileBytes(spec: Spec): Promise<number>;
  /** For logs: which model. */
  modelName(spec: Spec): string;
}

const DEFINITIONS: { [Kind in keyof EngineSpecs]: EngineDefinition<EngineSpecs[Kind]> } = {
  moonshine: {
    // Small models are faster with one copy per thread than with several threads per run (145 vs. 122 × real time).
    workers: (threads) => ({ count: threads, threads: 1 }),
    prepare: async () => (await import("./moonshine/model.ts")).readMoonshine(),
    async open(_, { prepared, ...options }) {
      const { openMoonshine } = await import("./moonshine/moonshine.ts");
      return await openMoonshine({ model: prepared as MoonshineModel, ...options });
    },
    modelFileBytes: () => fileBytes(Object.values(moonshinePaths())),
    modelName: () => "moonshine-tiny",
  },
  whisper: {
    // One copy of the weights: they are large, and so are the products that its threads share.
    workers: (threads) => ({ count: 1, threads }),
    async open({ folder }, { threads, batchShare = 1 }) {
      const { openWhisper } = await import("./whisper/whisper.ts");
      return await openWhisper({ folder, threads, batchShare });
    },
    modelFileBytes: async ({ folder }) => (await import("./whisper/graph-files.ts")).graphFileBytes(folder),
    modelName: ({ folder }) => folder,
  },
  openai: {
    workers: () => null,
    open: async (spec) => (await import("./openai/openai.ts")).openOpenAi(spec),
    modelFileBytes: async () => 0,
    modelName: ({ model }) => model,
  },
};

async function fileBytes(paths: readonly string[]): Promise<number> {
  const files = await Promise.all(paths.map((path) => stat(path)));
  return files.reduce((sum, { size }) => sum + size, 0);
}

export function engineDefinition(spec: EngineSpec): EngineDefinition<EngineSpec> {
  return DEFINITIONS[spec.kind] as EngineDefinition<EngineSpec>;
}

/** Which engines transcribe. */
export interface EngineSelection {
  /** Whether to use the bundled engine. */
  bundled: boolean;
  multilingual: EngineSpec | null;
  /** Whether the bundled engine transcribes what is clearly English. */
  bundledTakesEnglish: boolean;
  /** What to do if people speak a language that no selected engine supports: a sentence for people. */
  remedy: string;
}

export interface AvailableEngines {
  /** The multilingual model on this machine; null if there is none (yet). */
  whisper: {
    /** Absolute. */
    folder: string;
    /** Whether the bundled engine transcribes English about as well, many times as fast. */
    englishNoBetterThanBundled: boolean;
  } | null;
  /** A sentence for people: how to install that model. */
  whisperRemedy: string;
  /** Transcription servers; null if none is configured. */
  openai: EngineSpecs["openai"] | null;
}

/**
 * Chooses the engines. `auto`: the servers if any are configured; else the multilingual model, beside which the
 * bundled engine may take English; else only the bundled engine.
 * @throws SpeechError `model_not_found` if the requested engine is not available
 */
export function chooseEngines(choice: EngineChoice, available: AvailableEngines): EngineSelection {
  const { whisper, openai, whisperRemedy } = available;
  const bundledOnly = { bundled: true, multilingual: null, bundledTakesEnglish: false };
  switch (choice) {
    case "moonshine":
      return {
        ...bundledOnly,
        remedy: "The engine was set to moonshine: set it to auto, and transcribe the recording again.",
      };
    case "openai":
      if (openai === null) {
        throw new SpeechError("model_not_found", "No transcription server is configured.");
      }
      return only(openai);
    case "whisper":
      if (whisper === null) {
        throw new SpeechError("model_not_found", `There is no multilingual model. ${whisperRemedy}`);
      }
      return only({ kind: "whisper", folder: whisper.folder });
    case "auto":
      if (openai !== null) return only(openai);
      if (whisper === null) {
        return { ...bundledOnly, remedy: `${whisperRemedy} Then transcribe the recording again.` };
      }
      return {
        bundled: true,
        multilingual: { kind: "whisper", folder: whisper.folder },
        bundledTakesEnglish: whisper.englishNoBetterThanBundled,
        remedy: "",
      };
  }
}

function only(multilingual: EngineSpec): EngineSelection {
  return { bundled: false, multilingual, bundledTakesEnglish: false, remedy: "" };
}
