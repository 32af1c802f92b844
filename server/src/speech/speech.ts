import type { ProgressTerminal } from "@subtext/speech/cli/terminal";
import { type AvailableEngines, chooseEngines, engineDefinition } from "@subtext/speech/engines/registry";
import type { Decoder } from "@subtext/speech/media/media";
import { openDecoder } from "@subtext/speech/media/open-decoder";
import { type MemoryBudget, planParallelism } from "@subtext/speech/processes/memory";
import { readMemoryLimit } from "@subtext/speech/processes/memory-limit";
import { createSpeech, type Speech } from "@subtext/speech/processes/process-pool";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Db } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { readEngineChoice } from "./engine-choice.ts";
import { createModels, type Models } from "./models.ts";

const HEARTBEAT_TIMEOUT_MS = 30_000;
/** Memory that the service itself needs under load. */
const SERVICE_BYTES = 500_000_000;

function memoryBudget(): MemoryBudget | null {
  const limit = readMemoryLimit();
  return limit && { ...limit, reservedBytes: SERVICE_BYTES };
}

/** Opens the Whisper model, if the settings allow one. */
export function openModels(options: {
  config: Config;
  /** Null if the database cannot be opened. The choice made during setup then does not apply. */
  db: Db | null;
  log: Logger;
  clock: Clock;
  terminal: ProgressTerminal | null;
}): Models {
  const { db, ...rest } = options;
  const { engine, configuredEngines, isEngineSet } = options.config;
  const wanted = engine === "whisper" || (engine === "auto" && configuredEngines.length === 0);
  const hasChoice = db !== null && !isEngineSet;
  return createModels({ ...rest, wanted, ...(hasChoice && { readChoice: () => readEngineChoice(db) }) });
}

/**
 * Opens speech recognition with the configured engines that are installed. The first upload or recording starts the
 * processes. After a model is installed, the next recording uses it.
 * @param onProcess called whenever a process is started
 */
export function openSpeech(config: Config, models: Models, log: Logger, onProcess = () => {}): Speech {
  const speech = createSpeech({
    parts: () => {
      const parts = chooseEngines(config.engine, availableEngines(config, models));
      const { bundled, multilingual, bundledTakesEnglish } = parts;
      const by = multilingual && engineDefinition(multilingual).modelName(multilingual);
      log.info({ engine: config.engine, bundled, multilingual: by, bundledTakesEnglish }, "engines chosen");
      onProcess();
      return parts;
    },
    processes: config.speechProcesses,
    threads: config.speechThreads,
    memoryLimitBytes: config.speechMemoryLimitBytes,
    memory: memoryBudget(),
    heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS,
    log: (line) => log.warn({ line }, "speech process output"),
    ...(config.ffmpegPath !== null && { ffmpegPath: config.ffmpegPath }),
  });
  // Also renews after a failed installation, because engines report the missing model to users.
  models.onChange(() => speech.renew());
  return speech;
}

/** Returns a function that opens the decoder on the first call, and again if that failed. */
export function openPosterDecoder({ ffmpegPath }: Pick<Config, "ffmpegPath">): () => Promise<Decoder> {
  let opening: Promise<Decoder> | null = null;
  return () => {
    opening ??= openDecoder(ffmpegPath === null ? {} : { ffmpegPath }).catch((error) => {
      opening = null;
      throw error;
    });
    return opening;
  };
}

export interface MemoryDescription {
  text: string;
  /** Whether fewer processes or threads fit than are configured. */
  reduced: boolean;
}

/**
 * Describes how many speech processes fit into memory.
 * @throws SpeechError `insufficient_memory` if not even one fits, or another error if there is no engine
 */
export async function describeMemory(
  config: Config,
  models: Models,
  memory = memoryBudget(),
): Promise<MemoryDescription> {
  if (memory === null) return { text: "The system does not report its memory.", reduced: false };
  const { speechProcesses, speechThreads } = config;
  const engines = chooseEngines(config.engine, availableEngines(config, models));
  const wanted = { processes: speechProcesses, threads: speechThreads };
  const { processes, threads, batchShare } = await planParallelism(engines, { ...wanted, memory });
  const fitting = `Speech processes that fit: ${processes} of ${speechProcesses}, with ${threads} of ${speechThreads} threads and ${batchShare * 100}% of a full batch each`;
  return {
    text: `${fitting}; ${memory.source} is ${Math.floor(memory.bytes / 1024 ** 2)} MiB.`,
    reduced: processes < speechProcesses || threads < speechThreads || batchShare < 1,
  };
}

/** @throws SpeechError if an engine cannot be loaded */
export async function describeEngines(speech: Speech): Promise<{ text: string; warnings: string[] }> {
  const { engines } = await speech.describe();
  return {
    text: engines.map(({ name, languages }) => `${name} (${describeLanguages(languages)})`).join(", "),
    warnings: engines.flatMap(({ warnings }) => warnings),
  };
}

function describeLanguages(languages: readonly string[]): string {
  return languages.length > 5 ? `${languages.length} languages` : languages.join(", ");
}

function availableEngines(config: Config, models: Models): AvailableEngines {
  const installed = models.stillInstalled();
  return {
    whisper: installed && {
      folder: installed.folder,
      prefersBundledForEnglish: models.prefersBundledForEnglish(),
    },
    whisperRemedy: remedyOf(models),
    configured: config.configuredEngines,
  };
}

function remedyOf(models: Models): string {
  const { state, hint, nextTryAt } = models.state();
  if (models.isExpected()) return "One is being downloaded.";
  if (state === "downloading") return "One is being downloaded, which takes long.";
  const failed = nextTryAt === null ? "" : "The download of one failed, and is tried again later. ";
  return failed + (hint ?? "");
}
