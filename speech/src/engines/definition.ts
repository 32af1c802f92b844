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
  /** Only for engines that need nothing but their settings. */
  configuration?: EngineConfiguration<Spec>;
  /** Returns how worker threads run the model; null if it runs on a server. */
  workers(threads: number): WorkerLayout | null;
  /**
   * Reads the files that all workers share. Runs in its own thread while the workers run `open`, so that its garbage
   * collection does not slow them down. The result must be structured-cloneable.
   */
  prepare?(): Promise<unknown>;
  /**
   * @param options.prepared resolves to the result of `prepare`, or to null if the engine has no `prepare`
   * @throws SpeechError `model_unusable`
   */
  open(
    spec: Spec,
    options: { threads: number; batchShare?: number; prepared: Promise<unknown> },
  ): Promise<Engine>;
  /** Estimates the memory of the weights that each worker loads, from the sizes of the model's files. */
  weightBytes(spec: Spec): Promise<number>;
  /** Identifies the model in the log: its name, or the folder of a Whisper model. */
  modelName(spec: Spec): string;
}

export interface WorkerLayout {
  count: number;
  /** Threads of each worker. */
  threads: number;
  /** Whether a batch is divided among the workers. */
  dividesBatches: boolean;
}

export interface EngineConfiguration<Spec> {
  /** Keyed by environment variable. */
  settings: Readonly<Record<string, EngineSetting>>;
  /** The setting that enables the engine. It has no default. The other settings require it. */
  enabledBy: string;
  /** @param interactive true if a user is waiting, so requests to an unreachable server fail without retries */
  read(settings: EngineSettingsReader, interactive: boolean): Spec;
}

export interface EngineSetting {
  /** Sentences in Markdown, for the documentation. */
  description: string;
  /** The kind of value, such as a unit or `URLs, separated by commas`. */
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
  reportInvalid(name: string, value: string, expected: string): void;
}
