import { setTimeout as delay } from "node:timers/promises";
import { type DownloadDisplay, drawBar, writeLines } from "@subtext/speech/cli/download-display";
import type { ProgressTerminal } from "@subtext/speech/cli/terminal";
import { SpeechError } from "@subtext/speech/errors";
import { DEFAULT_MODEL_NAME, type KnownModel, knownModel } from "@subtext/speech/models/catalog";
import type { DownloadRetryPolicy } from "@subtext/speech/models/download";
import type { DownloadProgress } from "@subtext/speech/models/download-progress";
import {
  asInstalled,
  bundledTakesEnglish,
  type EncoderSpeed,
  type KnownSpeeds,
  type MeasuredSpeed,
  type ModelSpeed,
  speedOf,
} from "@subtext/speech/models/estimated-speed";
import type { TryModel } from "@subtext/speech/models/install";
import { readMeasuredSpeed } from "@subtext/speech/models/measured-speed";
import { type FoundModel, openModelStore } from "@subtext/speech/models/store";
import { isStillThere } from "@subtext/speech/models/stored-model";
import { chosenEncoder } from "@subtext/speech/processes/encoder-choice";
import { machineSpeed } from "@subtext/speech/processes/machine-speed";
import { tryModel as tryInProcess } from "@subtext/speech/processes/try-model";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Clock } from "../lib/clock.ts";
import { commandLine } from "../lib/command-line.ts";
import { BUNDLED } from "./engine-choice.ts";

export interface ModelsState {
  /** Name or absolute path; null if the configured or chosen engine needs no model. */
  wanted: string | null;
  state: "unwanted" | "installed" | "downloading" | "missing" | "failed";
  /** Null unless the model is installed. */
  folder: string | null;
  /** Null unless the state is `downloading`. */
  progress: DownloadProgress | null;
  /** For display. */
  error: string | null;
  /** What the operator can do about it, for display. */
  hint: string | null;
  /** When the download will be retried, ISO 8601. */
  nextTryAt: string | null;
}

export interface Models {
  /** Reads the choice made during setup, and checks the disk. Does not start a download. */
  refresh(): Promise<ModelsState>;
  /** Uses another engine of `engineOptions` from now on. Ends the download of the previous model. */
  choose(engine: string): void;
  /** Starts to monitor the model in the background, and to download it if it is missing and downloads are enabled. */
  start(): void;
  stop(): Promise<void>;
  state(): ModelsState;
  /** Returns the result of the last check; null if the model is missing. */
  installed(): FoundModel | null;
  /**
   * Returns the model if its files still exist. Otherwise, marks the model as missing, and downloads it again if
   * downloads are enabled. Call this before an engine reads the files.
   */
  stillInstalled(): FoundModel | null;
  /** Whether to wait for the model, because a download is running or will start soon and has not taken too long. */
  isExpected(): boolean;
  /** Whether the bundled engine recognizes clear English instead of the installed model. */
  prefersBundledForEnglish(): boolean;
  /** Null until it has been measured. */
  machineSpeed(): EncoderSpeed | null;
  /** Returns the speed of the installed model; null if it is unknown. */
  speed(): ModelSpeed | null;
  /**
   * Calls the listener when the model has been installed or its speed changes which engine recognizes English, or with
   * null when the installation has failed or the bundled engine was chosen.
   */
  onChange(listener: (model: FoundModel | null) => void): void;
}

const POLL_INTERVAL_MS = 60_000;
const FIRST_RETRY_MS = 60_000;
const MAX_RETRY_MS = 3_600_000;
/**
 * Time to download the largest model at 75 kB/s. A slower download continues, but transcriptions do not wait for it.
 */
const MAX_WAIT_MS = 6 * 3_600_000;

export type ModelsConfig = Pick<
  Config,
  | "whisperModel"
  | "whisperEncoder"
  | "speechPriority"
  | "speechThreads"
  | "modelsFolder"
  | "modelDownload"
  | "modelHubUrl"
  | "modelHubToken"
>;

export function createModels({
  config,
  wanted,
  log,
  clock,
  terminal,
  readChoice,
  wait = async (ms, signal) => await delay(ms, undefined, { signal, ref: false }),
  retryPolicy,
  measure = () => machineSpeed(config.modelsFolder, config.speechThreads),
  tryModel = tryInProcess,
}: {
  config: ModelsConfig;
  /** Whether the configured engine uses a Whisper model. */
  wanted: boolean;
  log: Logger;
  clock: Clock;
  /** Shows a progress bar; null to log progress instead. */
  terminal: ProgressTerminal | null;
  /** Returns the engine that was chosen during setup, or null. Without it, only the settings count. */
  readChoice?: () => Promise<string | null>;
  /** Rejects when aborted. Tests pass a wait that they end. */
  wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  retryPolicy?: DownloadRetryPolicy;
  measure?: () => Promise<EncoderSpeed>;
  /** Throws if a downloaded model cannot run. */
  tryModel?: TryModel;
}): Models {
  let name = wanted ? config.whisperModel : null;
  const store = openModelStore({ folder: config.modelsFolder, calledAs: commandLine("models") });
  const listeners: ((model: FoundModel | null) => void)[] = [];
  const shutdown = new AbortController();
  let downloadable = findDownloadable();
  /** Aborted when another engine is chosen. */
  let superseded = new AbortController();
  let running: Promise<void> | undefined;
  let installed: FoundModel | null = null;
  let measured: EncoderSpeed | null = null;
  let measuring: Promise<EncoderSpeed> | null = null;
  /** Reached by transcriptions with the installed model. */
  let reachedSpeed: MeasuredSpeed | null = null;
  let checkNow = () => {};
  /** Whether a download starts after the next check. */
  let isDue = downloadable !== undefined;
  let isAnnounced = false;
  let missingSince = clock.now().getTime();
  let current = initialState();

  function findDownloadable(): KnownModel | undefined {
    return name !== null && config.modelDownload ? knownModel(name) : undefined;
  }

  function initialState(): ModelsState {
    const state = name === null ? "unwanted" : "missing";
    const hint = wanted ? hintFor(name) : null;
    return { wanted: name, state, folder: null, progress: null, error: null, hint, nextTryAt: null };
  }

  const change = (changes: Partial<ModelsState>) => {
    const cleared = { folder: null, progress: null, error: null, hint: null, nextTryAt: null };
    current = { ...current, ...cleared, ...changes };
  };
  const notify = () => {
    for (const listener of listeners) listener(installed);
  };

  function choose(engine: string): void {
    const next = engine === BUNDLED ? null : engine;
    if (next === name) return;
    log.info({ engine }, "the speech engine chosen during setup is used");
    name = next;
    downloadable = findDownloadable();
    installed = null;
    isAnnounced = false;
    isDue = downloadable !== undefined;
    missingSince = clock.now().getTime();
    current = initialState();
    superseded.abort();
    superseded = new AbortController();
    checkNow();
  }

  async function refresh(): Promise<ModelsState> {
    if (current.state === "downloading") return current;
    // During an outage of the database, the last known choice stays.
    const choice = (await readChoice?.().catch(() => null)) ?? null;
    if (choice !== null) choose(choice);
    const checked = name;
    if (checked === null) return current;
    try {
      await checkInstalled(checked);
    } catch (error) {
      if (checked !== name) return current;
      markMissing();
      const missing = error instanceof SpeechError && error.code === "model_not_found";
      // The error of the last download is more useful than the fact that the model is missing.
      if (missing && current.state === "failed") return current;
      change({ state: missing ? "missing" : "failed", error: messageOf(error), hint: hintFor(checked) });
    }
    return current;
  }

  /** Changes nothing if another engine has been chosen in the meantime. */
  async function checkInstalled(model: string): Promise<void> {
    const found = await store.find(model);
    const speed = await readMeasuredSpeed(found.folder, config.speechThreads);
    if (model !== name) return;
    installed = found;
    reachedSpeed = speed;
    change({ state: "installed", folder: installed.folder });
  }

  function markMissing(): void {
    if (installed === null) return;
    log.warn({ model: installed.name, folder: installed.folder }, "the speech model was removed");
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
      const before = installed && prefersBundledForEnglish(installed);
      await refresh();
      await measureIfUseful();
      if (isAnnounced && before !== null && installed && before !== prefersBundledForEnglish(installed)) {
        log.info({ model: name, speed: speed() }, "the speed of the model changes the engine for English");
        notify();
      }
      if (installed === null && downloadable && (isDue || clock.now().getTime() >= nextTry)) {
        const { signal: other } = superseded;
        const failed = await download(downloadable, AbortSignal.any([signal, other]));
        signal.throwIfAborted();
        if (other.aborted) continue;
        isDue = false;
        if (failed !== null) {
          failures += 1;
          const pause = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
          // Another download would get the same files.
          const isRejected = failed instanceof SpeechError && failed.code === "model_unusable";
          nextTry = isRejected ? Number.POSITIVE_INFINITY : clock.now().getTime() + pause;
          const nextTryAt = isRejected ? null : new Date(nextTry).toISOString();
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
      if (name === null && !isAnnounced) {
        isAnnounced = true;
        notify();
      }
      // Another process may install or remove the model.
      await pause(POLL_INTERVAL_MS, signal);
    }
  }

  /** Setup shows estimates before a download, and the speed decides which engine recognizes English. */
  async function measureIfUseful(): Promise<void> {
    const isKnown = installed !== null && knownModel(installed.name) !== undefined;
    if (measured !== null || (!downloadable && !isKnown)) return;
    await measureOnce();
  }

  /** Returns null if the measurement failed. The next call repeats it. */
  async function measureOnce(): Promise<EncoderSpeed | null> {
    measuring ??= measure();
    try {
      measured = await measuring;
    } catch (error) {
      measuring = null;
      log.warn({ err: error }, "could not measure the speed of the machine");
    }
    return measured;
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

  /** @returns the error; null if the download succeeded */
  async function download(model: KnownModel, signal: AbortSignal): Promise<unknown> {
    const display = displayFor(model.name);
    change({ state: "downloading", progress: null });
    log.info({ model: model.name, from: config.modelHubUrl }, "downloading the speech model");
    try {
      await store.install(model, {
        hub: { url: config.modelHubUrl, token: config.modelHubToken },
        signal,
        encoder: chosenEncoder(config.whisperEncoder, measureOnce),
        tryModel,
        ...(retryPolicy && { retryPolicy }),
        onProgress(progress) {
          if (signal.aborted) return;
          change({ state: "downloading", progress });
          display.show(progress);
        },
      });
      await checkInstalled(model.name);
      return null;
    } catch (error) {
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

  function hintFor(model: string | null): string {
    if (model === null) {
      return `The bundled engine was chosen during setup. Set ENGINE=whisper to use ${DEFAULT_MODEL_NAME}, or WHISPER_MODEL to another model of \`${commandLine("models list")}\`.`;
    }
    if (!knownModel(model))
      return `Set WHISPER_MODEL to the path of a folder with a Whisper model, or to a name from \`${commandLine("models list")}\`.`;
    const pull = `\`${commandLine(`models pull ${model}`)}\` downloads it now.`;
    const offline =
      "Without a network, copy its folder from another machine and set WHISPER_MODEL to its path.";
    return config.modelDownload
      ? `The service downloads it in the background, and retries if that fails. ${pull} ${offline}`
      : `MODEL_DOWNLOAD=auto lets the service download it. ${pull} ${offline}`;
  }

  function prefersBundledForEnglish(found: FoundModel): boolean {
    return bundledTakesEnglish(inCatalog(found), config.speechPriority, speeds());
  }

  function speed(): ModelSpeed | null {
    return installed && speedOf(inCatalog(installed), speeds());
  }

  function speeds(): KnownSpeeds {
    return { measured: reachedSpeed, machine: measured };
  }

  return {
    refresh,
    choose,
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
      const error = `The files in ${folder} were removed or changed.`;
      change({ state: "missing", error, hint: hintFor(name) });
      checkNow();
      return null;
    },
    isExpected() {
      const isWanted = current.state === "downloading" || (isDue && installed === null);
      return isWanted && clock.now().getTime() - missingSince < MAX_WAIT_MS;
    },
    prefersBundledForEnglish: () => installed !== null && prefersBundledForEnglish(installed),
    machineSpeed: () => measured,
    speed,
    onChange(listener) {
      listeners.push(listener);
    },
  };
}

function inCatalog({ manifest, name }: FoundModel): KnownModel | null {
  const known = knownModel(manifest?.name ?? name);
  return known === undefined ? null : asInstalled(known, manifest);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
