import type { EngineSelection } from "../engines/registry.ts";
import type { TranscribeResult } from "../transcript.ts";
import { type MemoryBudget, planParallelism } from "./memory.ts";
import type { SpeechDescription, SpeechProcessConfig } from "./process-messages.ts";
import { type JobOptions, SpeechProcess } from "./speech-process.ts";

const IDLE_MS = 10 * 60_000;
/** Long enough to load the largest model from a slow disk. */
const LOAD_TIMEOUT_MS = 10 * 60_000;
/** Longer than a batch of the largest model on a slow processor, and than all retries of a request to servers. */
const STALL_TIMEOUT_MS = 20 * 60_000;
/** Maximum work that is lost with a process. Short recordings take less and write no checkpoint. */
const CHECKPOINT_INTERVAL_SECONDS = 30;

export interface SpeechOptions {
  /** Which engines to load; called for every process that starts. */
  parts: () => EngineSelection;
  /** Number of recordings that are transcribed concurrently, each in a separate process. Further recordings wait. */
  processes: number;
  /** Threads of the models of each process. */
  threads: number;
  /**
   * Resident memory of one process with one or two threads and the bundled engine; a process that exceeds it
   * is killed. More threads, and a model loaded from files, are allowed more.
   */
  memoryLimitBytes: number;
  /** Memory of all processes together: fewer processes and threads are used if not all fit. Null for no limit. */
  memory?: MemoryBudget | null;
  /** A process without a heartbeat for this long is killed. */
  heartbeatTimeoutMs: number;
  /** A process that takes longer to load its engines is killed; ten minutes by default. */
  loadTimeoutMs?: number;
  /** A job without progress for this long is killed; twenty minutes by default. */
  stallTimeoutMs?: number;
  /** Seconds of work between two checkpoints; 30 by default. */
  checkpointIntervalSeconds?: number;
  /** An idle process is ended after this time to free its memory; ten minutes by default. */
  idleMs?: number;
  /** The ffmpeg to use; by default it is searched for. */
  ffmpegPath?: string;
  /** Called with the lines that speech processes write to standard error. */
  log?: (line: string) => void;
}

/** Transcribes in separate processes, so that a crash costs only one attempt. */
export interface Speech {
  /**
   * @param path absolute
   * @throws SpeechError, among others `engine_crashed`, `engine_hung`, `engine_out_of_memory`,
   *   `model_unusable`; the signal's reason when it aborts
   */
  transcribe(path: string, options: JobOptions): Promise<TranscribeResult>;
  /**
   * Describes the loaded engines; loads them if necessary.
   * @throws SpeechError
   */
  describe(): Promise<SpeechDescription>;
  /**
   * Applies a change of `parts`: running processes end after their job, and every later job uses the new
   * engines.
   */
  renew(): void;
  /** Ends every process and rejects its jobs. */
  close(): Promise<void>;
}

/** Does not start a process yet: each starts with its first job, and again after one has ended. */
export function createSpeech(options: SpeechOptions): Speech {
  return new SpeechProcesses(options);
}

class SpeechProcesses implements Speech {
  readonly #options: SpeechOptions;
  readonly #slots: Slot[];
  readonly #waiting: ((slot: Slot) => void)[] = [];
  readonly #closed = new AbortController();
  /** Number of slots that fit into memory. */
  #usableSlots: number;

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
    const slot = await this.#takeFitting(signal);
    // The slot becomes free when its process has stopped the job; the caller of an abort does not wait for
    // that.
    const job = this.#useSlot(slot, (process) => process.transcribe(path, { ...options, signal }));
    job.catch(() => {});
    return await unlessAborted(job, signal);
  }

  async describe(): Promise<SpeechDescription> {
    const loaded = this.#slots.find(isLoaded);
    if (loaded?.process) return await loaded.process.ready;
    const slot = await this.#takeFitting(this.#closed.signal);
    return await this.#useSlot(slot, (process) => process.ready);
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
  }

  /**
   * Takes a slot whose process is loaded or fits into memory.
   * @throws SpeechError `insufficient_memory`
   */
  async #takeFitting(signal: AbortSignal): Promise<Slot> {
    for (;;) {
      const slot = await this.#take(signal);
      try {
        if (isLoaded(slot) || (await this.#prepare(slot))) return slot;
      } catch (error) {
        this.#free(slot);
        throw error;
      }
      this.#free(slot);
    }
  }

  /** Chooses the engines of the next process of a slot; false if there is no memory for it. */
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
        `Memory suffices for ${fitting.processes} of ${processes} processes, ${fitting.threads} of ${threads} threads and ${fitting.batchShare * 100} % of a full batch.`,
      );
    }
    this.#usableSlots = fitting.processes;
    const { batchShare, processBytes } = fitting;
    slot.next = { parts: { engines, threads: fitting.threads, batchShare }, processBytes };
    return this.#slots.indexOf(slot) < fitting.processes;
  }

  async #take(signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    const free = this.#slots.slice(0, this.#usableSlots).filter(({ taken }) => !taken);
    let slot = free.find(isLoaded) ?? free[0];
    if (slot === undefined) {
      const turn = Promise.withResolvers<Slot>();
      this.#waiting.push(turn.resolve);
      try {
        slot = await unlessAborted(turn.promise, signal);
      } catch (error) {
        const place = this.#waiting.indexOf(turn.resolve);
        if (place >= 0) this.#waiting.splice(place, 1);
        else turn.promise.then((given) => this.#free(given));
        throw error;
      }
    }
    slot.taken = true;
    clearTimeout(slot.idle);
    return slot;
  }

  async #useSlot<T>(slot: Slot, use: (process: SpeechProcess) => Promise<T>): Promise<T> {
    try {
      // `close` may have been called after the slot was taken but before it had a process.
      this.#closed.signal.throwIfAborted();
      return await use(this.#processOf(slot));
    } finally {
      this.#free(slot);
    }
  }

  #free(slot: Slot): void {
    if (slot.outdated) void slot.process?.stop();
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next(slot);
      return;
    }
    slot.taken = false;
    slot.idle = setTimeout(() => void slot.process?.stop(), this.#options.idleMs ?? IDLE_MS);
    slot.idle.unref();
  }

  #processOf(slot: Slot): SpeechProcess {
    if (slot.process !== null && isLoaded(slot)) return slot.process;
    const { ffmpegPath = null, memoryLimitBytes, heartbeatTimeoutMs, log } = this.#options;
    if (slot.next === null) throw new Error("The slot was not prepared.");
    const { parts, processBytes } = slot.next;
    slot.process = new SpeechProcess({
      parts: { ...parts, ffmpegPath },
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

/** A slot for one process. */
interface Slot {
  process: SpeechProcess | null;
  /** Configuration of its next process; null before one was needed. */
  next: { parts: Omit<SpeechProcessConfig, "ffmpegPath">; processBytes: number } | null;
  /** Whether its process has engines that are no longer selected. */
  outdated: boolean;
  taken: boolean;
  /** Runs while the slot is free. */
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
