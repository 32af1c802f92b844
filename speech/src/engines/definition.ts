import type { Engine } from "./engine.ts";

/** Identifies an engine and its model: plain data, because it is sent to speech processes. */
export interface AnyEngineSpec {
  /** The engine's name in the registry. */
  kind: string;
}

/**
 * How one kind of engine is configured and opened. Definitions import the engine on demand: a process that only
 * chooses engines must not load the ONNX runtime.
 */
export interface EngineDefinition<Spec extends AnyEngineSpec> {
  /** For engines that settings alone describe. */
  configuration?: EngineConfiguration<Spec>;
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

export interface EngineConfiguration<Spec> {
  /** By the names of environment variables. */
  settings: Readonly<Record<string, EngineSetting>>;
  /** The setting that turns the engine on. It has no default; the other settings require it. */
  enabledBy: string;
  /** @param interactive whether a person waits: an engine that was never reachable fails at once */
  read(settings: EngineSettingsReader, interactive: boolean): Spec;
}

export interface EngineSetting {
  /** Sentences in Markdown, for the documentation. */
  description: string;
  /** What it takes, such as a unit. */
  value: string;
  /** A valid value other than the default. */
  example: string;
  /** As it would be written; null if there is none. */
  default: string | null;
  secret?: true;
}

export interface EngineSettingsReader {
  /** Null if it is not set and has no default. */
  text(name: string): string | null;
  /** Values that are separated by commas or spaces. */
  list(name: string): string[];
  /** Reports an invalid value. The result of `read` is then not used. */
  refuse(name: string, value: string, expected: string): void;
}
