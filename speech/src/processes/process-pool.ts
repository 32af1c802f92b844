import type { EngineSelection } from "../engines/registry.ts";
import { recordSpeed } from "../models/measured-speed.ts";
import type { TranscribeResult } from "../transcript.ts";
import { type MemoryBudget, planParallelism } from "./memory.ts";
import type { SpeechDescription, SpeechProcessConfig } from "./process-messages.ts";
import { type JobOptions, SpeechProcess } from "./speech-process.ts";

const IDLE_MS = 10 * 60_000;
/** Long enough to load the largest model from a slow disk. */
const LOAD_TIMEOUT_MS = 10 * 60_000;
/** Longer than a batch of `whisper-small` on a slow CPU, and than all retries of a request to a server. */
const STALL_TIMEOUT_MS = 20 * 60_000;
/** Maximum work that a crash loses. Shorter recordings need no checkpoints. */
const CHECKPOINT_INTERVAL_SECONDS = 30;

export interface SpeechOptions {
  /** Selects the engines for each process that starts. */
  parts: () => EngineSelection;
  /** Maximum number of concurrent recordings. Each is transcribed in a separate process. */
  processes: number;
  threads: number;
  /**
   * Resident memory at which a process with up to two threads and the bundled engine is killed. The limit is higher for
   * more threads and for other models.
   */
  memoryLimitBytes: number;
  /** Memory of all processes together, which may reduce processes, threads and batches. Null for no limit. */
  memory?: MemoryBudget | null;
  /** A process without a heartbeat for this long is killed. */
  heartbeatTimeoutMs: number;
  /** A process that takes longer to load its engines is killed; ten minutes by default. */
  loadTimeoutMs?: number;
  /** A process without progress for this long is killed; twenty minutes by default. See `stallLimitMs`. */
  stallTimeoutMs?: number;
  /** Seconds of work between two checkpoints; 30 by default. */
  checkpointIntervalSeconds?: number;
  /** Idle time after which a process is stopped to free its memory; ten minutes by default. */
  idleMs?: number;
  /** Path of ffmpeg. By default, it is looked up on the PATH. */
  ffmpegPath?: string;
  /** Whether the engines must recognize a second of silence before a process is ready. */
  triesEngines?: boolean;
  /** Receives the lines that speech processes write to standard error. */
  log?: (line: string) => void;
}

/** Transcribes in child processes, so a crash affects only one attempt. */
export interface Speech {
  /**
   * @param path absolute
   * @throws SpeechError, e.g. `engine_crashed`, `engine_hung`, `engine_out_of_memory` or `model_unusable`; the signal's
   * reason if it is aborted
   */
  transcribe(path: string, options: JobOptions): Promise<TranscribeResult>;
  /**
   * Describes the engines. Loads them if necessary.
   * @throws SpeechError
   */
  describe(): Promise<SpeechDescription>;
  /**
   * Starts a process unless one is running, so that the next job does not wait for it. Restarts the idle timer of a
   * running process. Resolves before the engines are loaded; if they cannot be loaded, the next job fails.
   * @throws SpeechError if no process can be started
   */
  start(): Promise<void>;
  /** Applies a change of `parts` to all later jobs. Running processes are stopped after their jobs. */
  renew(): void;
  /** Stops all processes and rejects their jobs. */
  close(): Promise<void>;
}

/** Each process is started when its first job arrives. If it has ended, the next job starts it again. */
export function createSpeech(options: SpeechOptions): Speech {
  return new SpeechProcesses(options);
}

class SpeechProcesses implements Speech {
  readonly #options: SpeechOptions;
  readonly #slots: Slot[];
  readonly #waiting: ((slot: Slot) => void)[] = [];
  readonly #closed = new AbortController();
  /** Number of slots for which there is enough memory. */
  #usableSlots: number;
  /** One at a time, because each record adds to the file. */
  #recordingSpeed: Promise<void> = Promise.resolve();

  constructor(options: SpeechOptions) {
    this.#options = options;
    this.#usableSlots = options.processes;
    this.#slots = Array.from({ length: options.processes }, () => ({
      process: null,
      next: null,
      outdated: false,
      taken: false,
      idle: undefined,
    }));
  }

  async transcribe(path: string, options: JobOptions): Promise<TranscribeResult> {
    const signal = AbortSignal.any([options.signal, this.#closed.signal]);
    const slot = await this.#acquireUsable(signal);
    // After an abort, the slot becomes free when its process has stopped the job. The caller does not wait for that.
    const engines = slot.next?.parts.engines;
    const job = this.#useSlot(slot, (process) => process.transcribe(path, { ...options, signal }));
    const isResumed = (options.checkpoints ?? []).length > 0;
    job.then(
      (result) => engines && !isResumed && this.#recordSpeed(engines, result),
      () => {},
    );
    return await unlessAborted(job, signal);
  }

  async describe(): Promise<SpeechDescription> {
    const loaded = this.#slots.find(isLoaded);
    if (loaded?.process) return await loaded.process.ready;
    const slot = await this.#acquireUsable(this.#closed.signal);
    return await this.#useSlot(slot, (process) => process.ready);
  }

  async start(): Promise<void> {
    const loaded = this.#slots.find(isLoaded);
    if (loaded !== undefined) {
      loaded.idle?.refresh();
      return;
    }
    const slot = await this.#acquireUsable(this.#closed.signal);
    await this.#useSlot(slot, async () => {});
  }

  renew(): void {
    for (const slot of this.#slots) {
      if (slot.process === null) continue;
      slot.outdated = true;
      if (!slot.taken) void slot.process.stop();
    }
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error("Speech is closed."));
    await Promise.all(
      this.#slots.map((slot) => {
        clearTimeout(slot.idle);
        return slot.process?.stop();
      }),
    );
    await this.#recordingSpeed;
  }

  /**
   * Acquires a slot whose process is loaded, or for which there is enough memory.
   * @throws SpeechError `insufficient_memory`
   */
  async #acquireUsable(signal: AbortSignal): Promise<Slot> {
    for (;;) {
      const slot = await this.#acquire(signal);
      try {
        if (isLoaded(slot) || (await this.#prepare(slot))) return slot;
      } catch (error) {
        this.#release(slot);
        throw error;
      }
      this.#release(slot);
    }
  }

  /** Selects the engines of the slot's next process. Returns false if there is not enough memory for it. */
  async #prepare(slot: Slot): Promise<boolean> {
    const { processes, threads, memory, log } = this.#options;
    slot.outdated = false;
    const engines = this.#options.parts();
    if (!memory) {
      slot.next = { parts: { engines, threads, batchShare: 1 }, processBytes: Number.POSITIVE_INFINITY };
      return true;
    }
    const fitting = await planParallelism(engines, { processes, threads, memory });
    if (fitting.processes < processes || fitting.threads < threads || fitting.batchShare < 1) {
      log?.(
        `Limited by memory to ${fitting.processes} of ${processes} processes, ${fitting.threads} of ${threads} threads and ${fitting.batchShare * 100}% of the batch size.`,
      );
    }
    this.#usableSlots = fitting.processes;
    // More slots may have become usable.
    this.#serveWaiting();
    const { batchShare, processBytes } = fitting;
    slot.next = { parts: { engines, threads: fitting.threads, batchShare }, processBytes };
    return this.#slots.indexOf(slot) < fitting.processes;
  }

  /** If the speed cannot be stored, it remains an estimate. */
  #recordSpeed({ multilingual }: EngineSelection, result: TranscribeResult): void {
    if (multilingual?.kind !== "whisper") return;
    const record = () => recordSpeed(multilingual.folder, this.#options.threads, result).catch(() => {});
    this.#recordingSpeed = this.#recordingSpeed.then(record);
  }

  async #acquire(signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    const free = this.#slots.slice(0, this.#usableSlots).filter(({ taken }) => !taken);
    let slot = free.find(isLoaded) ?? free[0];
    if (slot === undefined) {
      const turn = Promise.withResolvers<Slot>();
      this.#waiting.push(turn.resolve);
      try {
        slot = await unlessAborted(turn.promise, signal);
      } catch (error) {
        const index = this.#waiting.indexOf(turn.resolve);
        if (index >= 0) this.#waiting.splice(index, 1);
        else turn.promise.then((acquired) => this.#release(acquired));
        throw error;
      }
    }
    slot.taken = true;
    clearTimeout(slot.idle);
    return slot;
  }

  async #useSlot<T>(slot: Slot, use: (process: SpeechProcess) => Promise<T>): Promise<T> {
    try {
      // `close` may have been called before the slot had a process.
      this.#closed.signal.throwIfAborted();
      return await use(this.#processOf(slot));
    } finally {
      this.#release(slot);
    }
  }

  #release(slot: Slot): void {
    if (slot.outdated) void slot.process?.stop();
    slot.taken = false;
    this.#serveWaiting();
    if (slot.taken) return;
    slot.idle = setTimeout(() => void slot.process?.stop(), this.#options.idleMs ?? IDLE_MS);
    slot.idle.unref();
  }

  /** Gives the usable free slots to waiting jobs. */
  #serveWaiting(): void {
    for (const slot of this.#slots.slice(0, this.#usableSlots).filter(({ taken }) => !taken)) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      slot.taken = true;
      clearTimeout(slot.idle);
      next(slot);
    }
  }

  #processOf(slot: Slot): SpeechProcess {
    if (slot.process !== null && isLoaded(slot)) return slot.process;
    const {
      ffmpegPath = null,
      triesEngines = false,
      memoryLimitBytes,
      heartbeatTimeoutMs,
      log,
    } = this.#options;
    if (slot.next === null) throw new Error("The slot was not prepared.");
    const { parts, processBytes } = slot.next;
    slot.process = new SpeechProcess({
      parts: { ...parts, ffmpegPath, triesEngines },
      memoryLimitBytes,
      processBytes,
      heartbeatTimeoutMs,
      loadTimeoutMs: this.#options.loadTimeoutMs ?? LOAD_TIMEOUT_MS,
      stallTimeoutMs: this.#options.stallTimeoutMs ?? STALL_TIMEOUT_MS,
      checkpointIntervalSeconds: this.#options.checkpointIntervalSeconds ?? CHECKPOINT_INTERVAL_SECONDS,
      log: log ?? (() => {}),
    });
    return slot.process;
  }
}

interface Slot {
  process: SpeechProcess | null;
  /** Configuration of the next process; null until one is needed. */
  next: { parts: Omit<SpeechProcessConfig, "ffmpegPath" | "triesEngines">; processBytes: number } | null;
  /** Whether the process has engines that are no longer selected. */
  outdated: boolean;
  taken: boolean;
  /** Stops the process of a free slot. */
  idle: NodeJS.Timeout | undefined;
}

function isLoaded({ process, outdated }: Slot): boolean {
  return process?.usable === true && !outdated;
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
