import type { EngineParts } from "../engines/engine-parts.ts";
import type { TranscribeResult } from "../transcript.ts";
import { type MemoryBudget, planParallelism } from "./memory.ts";
import type { SpeechDescription, SpeechParts } from "./process-messages.ts";
import { type JobOptions, SpeechProcess } from "./speech-process.ts";

const IDLE_MS = 10 * 60_000;
/** The largest model, from a slow disk. */
const LOAD_TIMEOUT_MS = 10 * 60_000;
/** Beyond what the largest model needs for a batch on a slow processor, and servers for one with all retries. */
const STALL_TIMEOUT_MS = 20 * 60_000;
/** Work that may be lost with a process: more than a short recording takes, which is then never written down. */
const KEEP_EVERY_SECONDS = 30;

export interface SpeechOptions {
  /** Which engines to load; asked anew for every process that starts. */
  parts: () => EngineParts;
  /** How many recordings are worked on at once, each in a process of its own; further ones wait. */
  processes: number;
  /** Threads that the models of each process may use. */
  threads: number;
  /**
   * Resident bytes of one process with one or two threads and the bundled engine; one that grows past them is
   * ended. More threads, and a model that is loaded from files, are allowed more on top.
   */
  memoryLimitBytes: number;
  /** Memory of all processes together: fewer processes and threads are used if not all fit. Null for no bound. */
  memory?: MemoryBudget | null;
  /** A process that shows no sign of life for so long is ended. */
  heartbeatTimeoutMs: number;
  /** A process that has not loaded its engines within so long is ended; ten minutes unless told. */
  loadTimeoutMs?: number;
  /** A job whose progress stands still for so long is ended; twenty minutes unless told. */
  stallTimeoutMs?: number;
  /** Seconds of work from one kept stretch of a recording to the next; 30 unless told. */
  keepEverySeconds?: number;
  /** A process without work for so long is ended to give its memory back; ten minutes unless told. */
  idleMs?: number;
  /** The ffmpeg to use, else it is looked for. */
  ffmpegPath?: string;
  /** Gets the lines that speech processes write to their standard error. */
  log?: (line: string) => void;
}

/** Speech to text in processes of its own: whatever a recording does to them costs one attempt. */
export interface Speech {
  /**
   * @param path absolute
   * @throws SpeechError, among others `engine_crashed`, `engine_hung`, `engine_out_of_memory`,
   *   `model_unusable`; the signal's reason when it aborts
   */
  transcribe(path: string, options: JobOptions): Promise<TranscribeResult>;
  /** What is loaded; loads it where nothing is. @throws SpeechError */
  describe(): Promise<SpeechDescription>;
  /**
   * Tells that `parts` would answer differently now: processes of before end when their job has ended, and
   * whatever begins from now on is heard with the new engines.
   */
  renew(): void;
  /** Ends every process and rejects the jobs that they work on. */
  close(): Promise<void>;
}

/** Starts nothing yet: processes start with their first job, and again where one has ended. */
export function createSpeech(options: SpeechOptions): Speech {
  return new SpeechProcesses(options);
}

class SpeechProcesses implements Speech {
  readonly #options: SpeechOptions;
  readonly #seats: Seat[];
  readonly #waiting: ((seat: Seat) => void)[] = [];
  readonly #closed = new AbortController();
  /** How many of the seats fit into memory. */
  #usableSeats: number;

  constructor(options: SpeechOptions) {
    this.#options = options;
    this.#usableSeats = options.processes;
    this.#seats = Array.from({ length: options.processes }, () => ({
      process: null,
      next: null,
      outdated: false,
      taken: false,
      idle: undefined,
    }));
  }

  async transcribe(path: string, options: JobOptions): Promise<TranscribeResult> {
    const signal = AbortSignal.any([options.signal, this.#closed.signal]);
    const seat = await this.#takeFitting(signal);
    // The seat is free when its process has let go; whoever aborted does not wait for that.
    const job = this.#useSeat(seat, (process) => process.transcribe(path, { ...options, signal }));
    job.catch(() => {});
    return await unlessAborted(job, signal);
  }

  async describe(): Promise<SpeechDescription> {
    const loaded = this.#seats.find(isLoaded);
    if (loaded?.process) return await loaded.process.ready;
    const seat = await this.#takeFitting(this.#closed.signal);
    return await this.#useSeat(seat, (process) => process.ready);
  }

  renew(): void {
    for (const seat of this.#seats) {
      if (seat.process === null) continue;
      seat.outdated = true;
      if (!seat.taken) void seat.process.stop();
    }
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error("Speech is closed."));
    await Promise.all(
      this.#seats.map((seat) => {
        clearTimeout(seat.idle);
        return seat.process?.stop();
      }),
    );
  }

  /** A seat whose process is loaded or fits into memory. @throws SpeechError `insufficient_memory` */
  async #takeFitting(signal: AbortSignal): Promise<Seat> {
    for (;;) {
      const seat = await this.#take(signal);
      try {
        if (isLoaded(seat) || (await this.#prepare(seat))) return seat;
      } catch (error) {
        this.#free(seat);
        throw error;
      }
      this.#free(seat);
    }
  }

  /** Chooses what the next process of a seat is made of; false if there is no memory for this seat. */
  async #prepare(seat: Seat): Promise<boolean> {
    const { processes, threads, memory, log } = this.#options;
    seat.outdated = false;
    const engines = this.#options.parts();
    if (!memory) {
      seat.next = { parts: { engines, threads, batchShare: 1 }, processBytes: Number.POSITIVE_INFINITY };
      return true;
    }
    const fitting = await planParallelism(engines, { processes, threads, memory });
    if (fitting.processes < processes || fitting.threads < threads || fitting.batchShare < 1) {
      log?.(
        `Memory is enough for ${fitting.processes} of ${processes} processes, ${fitting.threads} of ${threads} threads and ${fitting.batchShare * 100} % of a full batch.`,
      );
    }
    this.#usableSeats = fitting.processes;
    const { batchShare, processBytes } = fitting;
    seat.next = { parts: { engines, threads: fitting.threads, batchShare }, processBytes };
    return this.#seats.indexOf(seat) < fitting.processes;
  }

  async #take(signal: AbortSignal): Promise<Seat> {
    signal.throwIfAborted();
    const free = this.#seats.slice(0, this.#usableSeats).filter(({ taken }) => !taken);
    let seat = free.find(isLoaded) ?? free[0];
    if (seat === undefined) {
      const turn = Promise.withResolvers<Seat>();
      this.#waiting.push(turn.resolve);
      try {
        seat = await unlessAborted(turn.promise, signal);
      } catch (error) {
        const place = this.#waiting.indexOf(turn.resolve);
        if (place >= 0) this.#waiting.splice(place, 1);
        else turn.promise.then((given) => this.#free(given));
        throw error;
      }
    }
    seat.taken = true;
    clearTimeout(seat.idle);
    return seat;
  }

  async #useSeat<T>(seat: Seat, use: (process: SpeechProcess) => Promise<T>): Promise<T> {
    try {
      // Closing that came right after the seat was taken found no process to end.
      this.#closed.signal.throwIfAborted();
      return await use(this.#processOf(seat));
    } finally {
      this.#free(seat);
    }
  }

  #free(seat: Seat): void {
    if (seat.outdated) void seat.process?.stop();
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next(seat);
      return;
    }
    seat.taken = false;
    seat.idle = setTimeout(() => void seat.process?.stop(), this.#options.idleMs ?? IDLE_MS);
    seat.idle.unref();
  }

  #processOf(seat: Seat): SpeechProcess {
    if (seat.process !== null && isLoaded(seat)) return seat.process;
    const { ffmpegPath = null, memoryLimitBytes, heartbeatTimeoutMs, log } = this.#options;
    if (seat.next === null) throw new Error("The seat was not prepared.");
    const { parts, processBytes } = seat.next;
    seat.process = new SpeechProcess({
      parts: { ...parts, ffmpegPath },
      memoryLimitBytes,
      processBytes,
      heartbeatTimeoutMs,
      loadTimeoutMs: this.#options.loadTimeoutMs ?? LOAD_TIMEOUT_MS,
      stallTimeoutMs: this.#options.stallTimeoutMs ?? STALL_TIMEOUT_MS,
      keepEverySeconds: this.#options.keepEverySeconds ?? KEEP_EVERY_SECONDS,
      log: log ?? (() => {}),
    });
    return seat.process;
  }
}

/** Room for one process. */
interface Seat {
  process: SpeechProcess | null;
  /** What its next process is made of; null before one was needed. */
  next: { parts: Omit<SpeechParts, "ffmpegPath">; processBytes: number } | null;
  /** Whether its process has engines that are no longer the ones wanted. */
  outdated: boolean;
  taken: boolean;
  /** Runs while nobody has the seat. */
  idle: NodeJS.Timeout | undefined;
}

function isLoaded({ process, outdated }: Seat): boolean {
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
