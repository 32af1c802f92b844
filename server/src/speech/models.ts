import { setTimeout as delay } from "node:timers/promises";
import { type DownloadDisplay, drawBar, writeLines } from "@subtext/speech/cli/download-display";
import type { ProgressTerminal } from "@subtext/speech/cli/terminal";
import { SpeechError } from "@subtext/speech/errors";
import { type KnownModel, knownModel } from "@subtext/speech/models/catalog";
import type { Persistence } from "@subtext/speech/models/download";
import type { DownloadProgress } from "@subtext/speech/models/download-progress";
import { type FoundModel, openModelStore } from "@subtext/speech/models/store";
import { isStillThere } from "@subtext/speech/models/stored-model";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Clock } from "../lib/clock.ts";

/** The state of the selected model: for the doctor, the dashboard, and the reasons of failed transcriptions. */
export interface ModelsState {
  /** A name or an absolute path; null if the selected engine needs no model. */
  wanted: string | null;
  state: "unwanted" | "installed" | "downloading" | "missing" | "failed";
  /** Set only if the model is installed. */
  folder: string | null;
  /** Set only in the state `downloading`. */
  progress: DownloadProgress | null;
  /** Why the model is missing, for display; null if nothing is wrong. */
  error: string | null;
  /** What to do, for display; null if nothing needs to be done. */
  hint: string | null;
  /** When the download is retried, ISO 8601; null if it is not. */
  nextTryAt: string | null;
}

/** The speech model that the service should use, and its installation. */
export interface Models {
  /** Checks the disk; starts nothing. */
  refresh(): Promise<ModelsState>;
  /** Downloads the model in the background if it is missing and downloads are enabled; returns at once. */
  start(): void;
  /** Aborts the download; received bytes are kept. */
  stop(): Promise<void>;
  state(): ModelsState;
  /** The result of the last check; null until the model is installed. */
  installed(): FoundModel | null;
  /**
   * Returns the model if its files still exist, for an engine that is about to read them. If they were removed, the
   * model counts as missing from then on, and is downloaded again if downloads are enabled.
   */
  stillInstalled(): FoundModel | null;
  /**
   * Whether to wait for the model: a download is running or about to start, and has not taken too long.
   */
  isExpected(): boolean;
  /** Whether the bundled engine recognizes English about as well as the installed model. */
  prefersBundledForEnglish(): boolean;
  /** Called whenever the model was installed after the first check; with null if it could not be installed. */
  onChange(listener: (model: FoundModel | null) => void): void;
}

const POLL_INTERVAL_MS = 60_000;
const FIRST_RETRY_MS = 60_000;
const MAX_RETRY_MS = 3_600_000;
/** The time of the largest model at 75 kB/s. A slower download continues, but nothing waits for it. */
const MAX_WAIT_MS = 6 * 3_600_000;

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
  persistence,
}: {
  config: ModelsConfig;
  /** Whether the selected engine uses a Whisper model. */
  wanted: boolean;
  log: Logger;
  clock: Clock;
  /** Where a progress bar is drawn; null to log progress instead. */
  terminal: ProgressTerminal | null;
  /** Rejects when aborted; tests pass one that they end themselves. */
  wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** Tests pass a short time. */
  persistence?: Persistence;
}): Models {
  const name = wanted ? config.whisperModel : null;
  const store = openModelStore({ folder: config.modelsFolder, calledAs: "npx subtext models" });
  const downloadable = name !== null && config.modelDownload ? knownModel(name) : undefined;
  const listeners: ((model: FoundModel | null) => void)[] = [];
  const shutdown = new AbortController();
  let running: Promise<void> | undefined;
  let installed: FoundModel | null = null;
  /** Ends the pause before the next check. */
  let checkNow = () => {};
  /** Whether a download starts as soon as the disk has been checked. */
  let isDue = downloadable !== undefined;
  /** Whether all listeners have been notified of the installed model. */
  let isAnnounced = false;
  /** When the wait for the model began. */
  let missingSince = clock.now().getTime();
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
  const notify = () => {
    for (const listener of listeners) listener(installed);
  };

  async function refresh(): Promise<ModelsState> {
    if (name === null || current.state === "downloading") return current;
    try {
      installed = await store.find(name);
      change({ state: "installed", folder: installed.folder });
    } catch (error) {
      markMissing();
      const missing = error instanceof SpeechError && error.code === "model_not_found";
      // The reason of the last failed download is more useful than the model's absence.
      if (missing && current.state === "failed") return current;
      change({ state: missing ? "missing" : "failed", error: messageOf(error), hint: hintFor(name) });
    }
    return current;
  }

  function markMissing(): void {
    if (installed === null) return;
    log.warn({ model: installed.name, folder: installed.folder }, "the speech model is gone");
    installed = null;
    isAnnounced = false;
    isDue = downloadable !== undefined;
    missingSince = clock.now().getTime();
  }

  async function run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    let nextTry = 0;
    isAnnounced = installed !== null;
    for (;;) {
      await refresh();
      if (installed === null && downloadable && (isDue || clock.now().getTime() >= nextTry)) {
        const failed = await download(downloadable, signal);
        isDue = false;
        if (failed !== null) {
          failures += 1;
          const pause = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
          nextTry = clock.now().getTime() + pause;
          const nextTryAt = new Date(nextTry).toISOString();
          change({ state: "failed", error: messageOf(failed), hint: hintFor(downloadable.name), nextTryAt });
          log.warn({ err: failed, model: name, nextTryAt }, "the speech model could not be downloaded");
          notify();
        }
      }
      if (installed !== null && !isAnnounced) {
        isAnnounced = true;
        failures = 0;
        log.info({ model: installed.name, folder: installed.folder }, "the speech model is installed");
        notify();
      }
      // Another process may install or remove it meanwhile.
      await pause(POLL_INTERVAL_MS, signal);
    }
  }

  async function pause(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const woken = new AbortController();
    checkNow = () => woken.abort();
    try {
      await wait(ms, AbortSignal.any([signal, woken.signal]));
    } catch (error) {
      if (!woken.signal.aborted) throw error;
      signal.throwIfAborted();
    }
  }

  /** Null if it succeeded. */
  async function download(model: KnownModel, signal: AbortSignal): Promise<unknown> {
    const display = displayFor(model.name);
    change({ state: "downloading", progress: null });
    log.info({ model: model.name, from: config.modelHubUrl }, "downloading the speech model");
    try {
      await store.install(model, {
        hub: { url: config.modelHubUrl, token: config.modelHubToken },
        signal,
        ...(persistence && { persistence }),
        onProgress(progress) {
          change({ state: "downloading", progress });
          display.show(progress);
        },
      });
      installed = await store.find(model.name);
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
    refresh,
    start() {
      if (name === null) return;
      running ??= run(shutdown.signal).catch((error) => {
        if (!shutdown.signal.aborted) log.error({ err: error }, "the speech model is no longer monitored");
      });
    },
    async stop() {
      shutdown.abort(new Error("the service is stopping"));
      await running;
    },
    state: () => current,
    installed: () => installed,
    stillInstalled() {
      if (installed === null || isStillThere(installed)) return installed;
      const { folder } = installed;
      markMissing();
      const error = `The files in ${folder} have gone or changed.`;
      change({ state: "missing", error, hint: hintFor(name ?? "") });
      checkNow();
      return null;
    },
    isExpected() {
      const isWanted = current.state === "downloading" || (isDue && installed === null);
      return isWanted && clock.now().getTime() - missingSince < MAX_WAIT_MS;
    },
    prefersBundledForEnglish() {
      const known = installed && knownModel(installed.manifest?.name ?? installed.name);
      return known?.englishNoBetterThanBundled ?? false;
    },
    onChange(listener) {
      listeners.push(listener);
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
