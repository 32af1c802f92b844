import type { TranscribeResult } from "../transcript.ts";
import type { EngineName, SpeechDescription } from "./messages.ts";
import { type JobOptions, SpeechProcess } from "./speech-process.ts";

const IDLE_MS = 10 * 60_000;

export interface SpeechOptions {
  engine: EngineName;
  /** How many recordings are worked on at once, each in a process of its own; further ones wait. */
  processes: number;
  /** Threads of each process. */
  threads: number;
  /** Resident bytes of one process, its model included; one that grows past them is ended. */
  memoryLimitBytes: number;
  /** A process that shows no sign of life for so long is ended. */
  heartbeatTimeoutMs: number;
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

  constructor(options: SpeechOptions) {
    this.#options = options;
    this.#seats = Array.from({ length: options.processes }, () => ({
      process: null,
      taken: false,
      idle: undefined,
    }));
  }

  async transcribe(path: string, options: JobOptions): Promise<TranscribeResult> {
    const signal = AbortSignal.any([options.signal, this.#closed.signal]);
    const seat = await this.#take(signal);
    const job = this.#processOf(seat).transcribe(path, { ...options, signal });
    // The seat is free when its process has let go; whoever aborted does not wait for that.
    const free = () => this.#free(seat);
    job.then(free, free);
    return await unlessAborted(job, signal);
  }

  async describe(): Promise<SpeechDescription> {
    const loaded = this.#seats.find(({ process }) => process?.usable);
    if (loaded?.process) return await loaded.process.ready;
    const seat = await this.#take(this.#closed.signal);
    try {
      return await this.#processOf(seat).ready;
    } finally {
      this.#free(seat);
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

  async #take(signal: AbortSignal): Promise<Seat> {
    signal.throwIfAborted();
    const free = this.#seats.filter(({ taken }) => !taken);
    let seat = free.find(({ process }) => process?.usable) ?? free[0];
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

  #free(seat: Seat): void {
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
    if (seat.process?.usable) return seat.process;
    const { engine, threads, ffmpegPath = null, memoryLimitBytes, heartbeatTimeoutMs, log } = this.#options;
    seat.process = new SpeechProcess({
      parts: { engine, threads, ffmpegPath },
      memoryLimitBytes,
      heartbeatTimeoutMs,
      log: log ?? (() => {}),
    });
    return seat.process;
  }
}

/** Room for one process. */
interface Seat {
  process: SpeechProcess | null;
  taken: boolean;
  /** Runs while nobody has the seat. */
  idle: NodeJS.Timeout | undefined;
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
