import { setTimeout as delay } from "node:timers/promises";
import { SpeechError } from "@subtext/speech/errors";
import { knownModel } from "@subtext/speech/models/catalogue";
import { type DownloadDisplay, drawBar, writeLines } from "@subtext/speech/models/download-display";
import type { DownloadProgress } from "@subtext/speech/models/progress";
import { type FoundModel, openModelStore } from "@subtext/speech/models/store";
import type { ProgressTerminal } from "@subtext/speech/progress-bar";
import type { Logger } from "pino";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";

/** What is told of the wanted model: by the doctor, the dashboard, and the reasons of failed transcriptions. */
export interface ModelsState {
  /** A name or an absolute path; null where the chosen engine needs none. */
  wanted: string | null;
  state: "unwanted" | "installed" | "downloading" | "missing" | "failed";
  /** Of the model that is installed; null in every other state. */
  folder: string | null;
  /** Null in every state but `downloading`. */
  progress: DownloadProgress | null;
  /** Why it is not there, for people; null where that is no fault. */
  error: string | null;
  /** What to do, for people; null where nothing is to be done. */
  hint: string | null;
  /** When the download is tried again, ISO 8601; null where it is not. */
  nextTryAt: string | null;
}

/** The model that the service wants to hear with, and how it comes to be there. */
export interface Models {
  /** Looks at the disk, and nothing else. */
  look(): Promise<ModelsState>;
  /** Downloads the model in the background where it is missing and that is allowed; returns at once. */
  start(): void;
  /** Lets go of a download; what has arrived is kept. */
  stop(): Promise<void>;
  state(): ModelsState;
  /** As of the last look; null until it is installed. */
  installed(): FoundModel | null;
  /** Whether the bundled engine hears English about as well as the installed model. */
  bundledTakesEnglish(): boolean;
  /** Called each time a model has come to be there after the first look. */
  onInstalled(listener: (model: FoundModel) => void): void;
}

const LOOK_EVERY_MS = 60_000;
const FIRST_RETRY_MS = 60_000;
const LAST_RETRY_MS = 3_600_000;

export type ModelsConfig = Pick<
  Config,
  "whisperModel" | "modelsFolder" | "modelDownload" | "modelHubUrl" | "modelHubToken"
>;

export function createModels({
  config,
  wanted,
  log,
  clock,
  terminal,
  wait = async (ms, signal) => await delay(ms, undefined, { signal, ref: false }),
}: {
  config: ModelsConfig;
  /** Whether the chosen engine uses a Whisper model. */
  wanted: boolean;
  log: Logger;
  clock: Clock;
  /** Where a progress bar may be drawn; null for lines in the log. */
  terminal: ProgressTerminal | null;
  /** Rejects when aborted; tests give one that they end by hand. */
  wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}): Models {
  const name = wanted ? config.whisperModel : null;
  const store = openModelStore({ folder: config.modelsFolder, calledAs: "npx subtext models" });
  const downloadable = name !== null && config.modelDownload ? knownModel(name) : undefined;
  const listeners: ((model: FoundModel) => void)[] = [];
  const shutdown = new AbortController();
  let running: Promise<void> | undefined;
  let installed: FoundModel | null = null;
  let current: ModelsState = {
    wanted: name,
    state: name === null ? "unwanted" : "missing",
    folder: null,
    progress: null,
    error: null,
    hint: name === null ? null : hintFor(name),
    nextTryAt: null,
  };

  const change = (changes: Partial<ModelsState>) => {
    const cleared = { folder: null, progress: null, error: null, hint: null, nextTryAt: null };
    current = { ...current, ...cleared, ...changes };
  };

  async function look(): Promise<ModelsState> {
    if (name === null || current.state === "downloading") return current;
    try {
      installed = await store.find(name);
      change({ state: "installed", folder: installed.folder });
    } catch (error) {
      installed = null;
      const missing = error instanceof SpeechError && error.code === "model_not_found";
      // What the last download failed of tells more than that nothing is there.
      if (missing && current.state === "failed") return current;
      change({ state: missing ? "missing" : "failed", error: messageOf(error), hint: hintFor(name) });
    }
    return current;
  }

  async function run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    let nextTry = clock.now().getTime();
    for (;;) {
      await look();
      if (installed === null && downloadable && clock.now().getTime() >= nextTry) {
        const failed = await download(signal);
        if (failed !== null) {
          failures += 1;
          const pause = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LAST_RETRY_MS);
          nextTry = clock.now().getTime() + pause;
          const nextTryAt = new Date(nextTry).toISOString();
          change({ state: "failed", error: messageOf(failed), hint: hintFor(downloadable.name), nextTryAt });
          log.warn({ err: failed, model: name, nextTryAt }, "the speech model could not be downloaded");
        }
      }
      if (installed !== null) {
        log.info({ model: installed.name, folder: installed.folder }, "the speech model is installed");
        for (const listener of listeners) listener(installed);
        return;
      }
      // Somebody else may install it meanwhile.
      await wait(LOOK_EVERY_MS, signal);
    }
  }

  /** Null where it went well. */
  async function download(signal: AbortSignal): Promise<unknown> {
    if (!downloadable) return null;
    const display = displayFor(downloadable.name);
    change({ state: "downloading", progress: null });
    log.info({ model: downloadable.name, from: config.modelHubUrl }, "downloading the speech model");
    try {
      await store.install(downloadable, {
        hub: { url: config.modelHubUrl, token: config.modelHubToken },
        signal,
        onProgress(progress) {
          change({ state: "downloading", progress });
          display.show(progress);
        },
      });
      installed = await store.find(downloadable.name);
      change({ state: "installed", folder: installed.folder });
      return null;
    } catch (error) {
      signal.throwIfAborted();
      return error;
    } finally {
      display.end();
    }
  }

  function displayFor(model: string): DownloadDisplay {
    return terminal === null
      ? writeLines((line) => log.info({ model, progress: line }, "downloading the speech model"))
      : drawBar(model, terminal);
  }

  function hintFor(model: string): string {
    if (!knownModel(model))
      return `Let WHISPER_MODEL name a folder that holds a Whisper model, or one of \`npx subtext models list\`.`;
    const pull = `\`npx subtext models pull ${model}\` downloads it.`;
    const offline = "Without a network, copy its folder from another machine and let WHISPER_MODEL name it.";
    return config.modelDownload
      ? `${pull} ${offline}`
      : `MODEL_DOWNLOAD=auto lets the service download it; ${pull} ${offline}`;
  }

  return {
    look,
    start() {
      if (name === null || installed !== null) return;
      running ??= run(shutdown.signal).catch((error) => {
        if (!shutdown.signal.aborted) log.error({ err: error }, "the speech model is looked after no more");
      });
    },
    async stop() {
      shutdown.abort(new Error("the service is stopping"));
      await running;
    },
    state: () => current,
    installed: () => installed,
    bundledTakesEnglish() {
      const known = installed && knownModel(installed.manifest?.name ?? installed.name);
      return known?.englishNoBetterThanBundled ?? false;
    },
    onInstalled(listener) {
      listeners.push(listener);
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
