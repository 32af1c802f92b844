import type { Engine } from "./engine.ts";

/** Identifies an engine and its model. Specs are plain data, because they are sent to speech processes. */
export interface AnyEngineSpec {
  /** Key of the engine in the registry. */
  kind: string;
}

/**
 * How to configure and open an engine. Definitions must import the engine on demand, because a process that only chooses
 * engines does not need the ONNX runtime.
 */
export interface EngineDefinition<Spec extends AnyEngineSpec> {
  /** Only for engines that need no other data than their settings. */
  configuration?: EngineConfiguration<Spec>;
  /**
   * Returns the number of workers that run the model, and the threads of each. The count is `one` if there is a single
   * worker for any number of threads, so batches are never divided. Null if the model runs on a server.
   */
  workers(threads: number): { count: number | "one"; threads: number } | null;
  /**
   * Reads the files that all workers share. Runs in a separate thread, so its garbage collection does not slow down the
   * others, while `open` already runs in them. The result must be structured-cloneable.
   */
  prepare?(): Promise<unknown>;
  /**
   * @param options.prepared the result of `prepare`
   * @throws SpeechError `model_unusable`
   */
  open(
    spec: Spec,
    options: { threads: number; batchShare?: number; prepared: Promise<unknown> },
  ): Promise<Engine>;
  /** Estimates the memory of the weights that each worker loads, from the sizes of the model's files. */
  weightBytes(spec: Spec): Promise<number>;
  modelName(spec: Spec): string;
}

export interface EngineConfiguration<Spec> {
  /** Keyed by environment variable. */
  settings: Readonly<Record<string, EngineSetting>>;
  /** The setting that enables the engine. It has no default. The other settings require it. */
  enabledBy: string;
  /** @param interactive true if a user is waiting, so an unreachable server is an error instead of being retried */
  read(settings: EngineSettingsReader, interactive: boolean): Spec;
}

export interface EngineSetting {
  /** Sentences in Markdown, for the documentation. */
  description: string;
  /** The unit, or what the value is. */
  value: string;
  /** A valid value other than the default. */
  example: string;
  /** Text of the environment variable; null if there is no default. */
  default: string | null;
  secret?: true;
}

export interface EngineSettingsReader {
  /** Returns null if the setting has no value and no default. */
  text(name: string): string | null;
  /** Splits the value at commas and spaces. */
  list(name: string): string[];
  /** Reports an invalid value. The result of `read` is then discarded. */
  refuse(name: string, value: string, expected: string): void;
}
