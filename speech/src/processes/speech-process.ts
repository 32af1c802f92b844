import { type ChildProcess, fork } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Checkpoint } from "../checkpoints/checkpoint.ts";
import { SpeechError, type SpeechErrorCode } from "../errors.ts";
import { lowerPriority } from "../lib/lower-priority.ts";
import type { TranscribeOptions } from "../transcribe.ts";
import type { TranscribeProgress, TranscribeResult } from "../transcript.ts";
import type { Waveform } from "../waveform.ts";
import { additionalBytes } from "./memory.ts";
import {
  type FromSpeechProcess,
  fromErrorMessage,
  parseFromSpeechProcess,
  type SpeechDescription,
  type SpeechProcessConfig,
  type ToSpeechProcess,
} from "./process-messages.ts";
import { environmentFor, heapFlags, nodeEndingWithParent } from "./spawn-options.ts";
import { stallLimitMs } from "./stall-limit.ts";

const MAIN = fileURLToPath(new URL("process-main.ts", import.meta.url));
/** Competing with a busy process of normal priority for one core, the process gets a quarter of it (`sched(7)`). */
const NICE_STEPS = 5;
const WATCH_INTERVAL_MS = 250;
/** Delay between SIGTERM and SIGKILL. */
const TERM_GRACE_MS = 2_000;
/** A process that takes longer to stop an aborted job is killed. Callers expect an abort to take at most a second. */
const ABORT_GRACE_MS = 800;
const MEBIBYTE = 1024 ** 2;
const ENDS_PROCESS: readonly SpeechErrorCode[] = ["engine_crashed", "engine_out_of_memory"];

export interface SpeechProcessOptions {
  parts: SpeechProcessConfig;
  /**
   * Resident memory at which a process with up to two threads and the bundled engine is killed. The limit is higher for
   * more threads and for other models.
   */
  memoryLimitBytes: number;
  /** The process's share of the available memory, which is an upper limit in any case. */
  processBytes: number;
  heartbeatTimeoutMs: number;
  loadTimeoutMs: number;
  /** The process is killed after this long without progress. Large models and slow machines have more time. */
  stallTimeoutMs: number;
  checkpointIntervalSeconds: number;
  /** Receives the lines that the process writes to standard error. */
  log: (line: string) => void;
}

export type JobOptions = Pick<
  TranscribeOptions,
  | "maxDurationSeconds"
  | "signal"
  | "onProgress"
  | "onWaveform"
  | "vocabulary"
  | "checkpoints"
  | "onCheckpoint"
>;

interface Job {
  id: number;
  onProgress: ((progress: TranscribeProgress) => void) | undefined;
  onWaveform: ((waveform: Waveform) => void) | undefined;
  onCheckpoint: ((checkpoint: Checkpoint) => void) | undefined;
  settled: PromiseWithResolvers<TranscribeResult>;
  /** Time since the last progress; null before the first, when only decoders work, which have separate limits. */
  stalledMs: number | null;
  /** An aborted job fails with an error that is not a SpeechError. */
  signal: AbortSignal;
}

/** The process ended without being stopped, or another program killed it. */
export class SpeechProcessEnded extends SpeechError {
  /** Null if no signal ended it. */
  readonly signal: NodeJS.Signals | null;

  constructor(message: string, signal: NodeJS.Signals | null) {
    super("engine_crashed", message);
    this.signal = signal;
  }
}

/**
 * Supervises a speech process. Kills it if it does not load in time, sends no heartbeat, makes no progress or exceeds its
 * memory limit. If the process ends for any reason, its job is rejected.
 */
export class SpeechProcess {
  readonly #options: SpeechProcessOptions;
  readonly #process: ChildProcess;
  readonly #ready = Promise.withResolvers<SpeechDescription>();
  readonly #exited = Promise.withResolvers<void>();
  readonly #watch: NodeJS.Timeout;
  /**
   * Null before the first, while Node.js starts, which takes long on a slow machine; that time counts as loading. Counted
   * per check instead of read from the clock, so pauses of this process do not count.
   */
  #msSinceHeartbeat: number | null = null;
  /** Null when the process is ready. */
  #loadingMs: number | null = 0;
  #modelBytes = 0;
  /** Longest time between two reports of progress. */
  #slowestStepMs = 0;
  #lastLine = "";
  /** Why the speech process was killed or stopped; null if it was not. */
  #fault: Error | null = null;
  #alive = true;
  #job: Job | null = null;
  #jobs = 0;

  constructor(options: SpeechProcessOptions) {
    this.#options = options;
    this.#process = fork(MAIN, {
      // Creates a process group, so its decoders can be killed with it.
      detached: true,
      env: environmentFor(options.parts, process.env),
      ...nodeEndingWithParent(["--disable-warning=ExperimentalWarning", ...heapFlags()]),
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    if (this.#process.pid !== undefined) lowerPriority(this.#process.pid, NICE_STEPS);
    this.#process.on("message", (value) => this.#receive(value));
    this.#process.once("error", (error) => this.#ended(`did not start: ${error.message}`, null));
    this.#process.once("exit", (code, signal) =>
      this.#ended(signal === null ? `exited with code ${code}` : `was killed by ${signal}`, signal),
    );
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => this.#logLines(text));
    this.#watch = setInterval(() => void this.#check(), WATCH_INTERVAL_MS);
    this.#ready.promise.catch(() => {});
    this.#send({ type: "open", parts: options.parts });
  }

  /**
   * Resolves when the process is ready for its first job.
   * @throws SpeechError
   */
  get ready(): Promise<SpeechDescription> {
    return this.#ready.promise;
  }

  get usable(): boolean {
    return this.#alive && this.#fault === null;
  }

  /**
   * Runs one job at a time. After an abort, rejects when the process has stopped the job or was killed.
   * @throws SpeechError, or the signal's reason
   */
  async transcribe(path: string, options: JobOptions): Promise<TranscribeResult> {
    const { signal, maxDurationSeconds, vocabulary = [], checkpoints = [], onCheckpoint } = options;
    await this.ready;
    signal.throwIfAborted();
    this.#jobs += 1;
    const job: Job = {
      id: this.#jobs,
      onProgress: options.onProgress,
      onWaveform: options.onWaveform,
      onCheckpoint,
      settled: Promise.withResolvers(),
      stalledMs: null,
      signal,
    };
    let abortTimer: NodeJS.Timeout | undefined;
    const abort = () => {
      this.#send({ type: "abort", job: job.id });
      abortTimer = setTimeout(
        () => this.#kill(new SpeechError("engine_hung", "The speech process did not stop an aborted job.")),
        ABORT_GRACE_MS,
      );
    };
    this.#job = job;
    signal.addEventListener("abort", abort, { once: true });
    try {
      const intervalSeconds = onCheckpoint === undefined ? null : this.#options.checkpointIntervalSeconds;
      this.#send({
        type: "transcribe",
        job: job.id,
        path,
        maxDurationSeconds,
        vocabulary,
        checkpointing: { checkpoints, intervalSeconds },
      });
      return await job.settled.promise;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(abortTimer);
      signal.removeEventListener("abort", abort);
      this.#job = null;
    }
  }

  /** Sends SIGTERM, then SIGKILL. Resolves when the process has exited. */
  async stop(): Promise<void> {
    if (!this.#alive) return;
    this.#fault ??= new Error("The speech process was stopped.");
    this.#signal("SIGTERM");
    const grace = setTimeout(() => this.#signal("SIGKILL"), TERM_GRACE_MS);
    await this.#exited.promise;
    clearTimeout(grace);
  }

  #receive(value: unknown): void {
    this.#msSinceHeartbeat = 0;
    let message: FromSpeechProcess;
    try {
      message = parseFromSpeechProcess(value);
    } catch (cause) {
      this.#kill(new SpeechError("engine_crashed", "The speech process sent an invalid message.", { cause }));
      return;
    }
    if (message.type === "loading") this.#modelBytes = message.modelBytes;
    else if (message.type === "ready") {
      this.#loadingMs = null;
      this.#ready.resolve(message.description);
    } else if (message.type === "alive") this.#checkMemory(message.residentBytes);
    else if (message.type === "unusable") this.#kill(fromErrorMessage(message.error));
    else if (message.job === this.#job?.id) {
      if (message.type === "progress") {
        this.#slowestStepMs = Math.max(this.#slowestStepMs, this.#job.stalledMs ?? 0);
        this.#job.stalledMs = 0;
        this.#job.onProgress?.(message.progress);
      } else if (message.type === "waveform") this.#job.onWaveform?.(message.waveform);
      else if (message.type === "checkpoint") this.#job.onCheckpoint?.(message.checkpoint);
      else if (message.type === "transcribed") this.#job.settled.resolve(message.result);
      else this.#failed(this.#job, fromErrorMessage(message.error));
    }
  }

  #failed({ settled, signal }: Job, error: Error): void {
    // After an unexpected error, a lost thread or a failed allocation, the process could fail all further jobs.
    const endsProcess = error instanceof SpeechError ? ENDS_PROCESS.includes(error.code) : !signal.aborted;
    if (endsProcess) this.#kill(error);
    else settled.reject(error);
  }

  /** The checks run here, because a process that is busy in native code cannot report. */
  async #check(): Promise<void> {
    if (this.#msSinceHeartbeat !== null) {
      this.#msSinceHeartbeat += WATCH_INTERVAL_MS;
      if (this.#msSinceHeartbeat > this.#options.heartbeatTimeoutMs) {
        const seconds = Math.round(this.#msSinceHeartbeat / 1000);
        this.#kill(new SpeechError("engine_hung", `The engine sent no heartbeat for ${seconds} s.`));
      }
    }
    if (this.#loadingMs !== null) {
      this.#loadingMs += WATCH_INTERVAL_MS;
      if (this.#loadingMs > this.#options.loadTimeoutMs) {
        const seconds = Math.round(this.#loadingMs / 1000);
        this.#kill(new SpeechError("engine_hung", `The engine did not load within ${seconds} s.`));
      }
    }
    if (this.#job !== null && this.#job.stalledMs !== null) {
      this.#job.stalledMs += WATCH_INTERVAL_MS;
      if (this.#job.stalledMs > this.#stallLimitMs()) {
        const seconds = Math.round(this.#job.stalledMs / 1000);
        this.#kill(new SpeechError("engine_hung", `The engine made no progress for ${seconds} s.`));
      }
    }
    const residentBytes = await residentBytesOf(this.#process.pid);
    if (residentBytes !== null) this.#checkMemory(residentBytes);
  }

  #stallLimitMs(): number {
    const { stallTimeoutMs, parts } = this.#options;
    return stallLimitMs(stallTimeoutMs, {
      threads: parts.threads,
      modelBytes: this.#modelBytes,
      slowestStepMs: this.#slowestStepMs,
    });
  }

  #checkMemory(residentBytes: number): void {
    const { memoryLimitBytes, processBytes, parts } = this.#options;
    const allowed = memoryLimitBytes + additionalBytes(parts.threads, this.#modelBytes);
    const limitBytes = Math.min(allowed, processBytes);
    if (residentBytes <= limitBytes) return;
    const [used, limit] = [residentBytes, limitBytes].map((bytes) => Math.round(bytes / MEBIBYTE));
    this.#kill(
      new SpeechError("engine_out_of_memory", `The engine used ${used} MiB; its limit is ${limit} MiB.`),
    );
  }

  /** Sends SIGKILL, because a hung process does not respond to SIGTERM. */
  #kill(fault: Error): void {
    if (this.#fault !== null) return;
    this.#fault = fault;
    this.#signal("SIGKILL");
  }

  #ended(how: string, signal: NodeJS.Signals | null): void {
    if (!this.#alive) return;
    this.#alive = false;
    clearInterval(this.#watch);
    // If another program killed the process, its decoders are still running.
    this.#signal("SIGKILL");
    const line = this.#lastLine === "" ? "" : ` (${this.#lastLine})`;
    const fault = this.#fault ?? new SpeechProcessEnded(`The speech process ${how}${line}.`, signal);
    this.#ready.reject(fault);
    this.#job?.settled.reject(fault);
    this.#exited.resolve();
  }

  #logLines(text: string): void {
    for (const line of text.split("\n")) {
      if (line.trim() === "") continue;
      this.#lastLine = line.trim();
      this.#options.log(this.#lastLine);
    }
  }

  #send(message: ToSpeechProcess): void {
    // If the channel has just closed, the job is settled when the process exits.
    if (this.#process.connected) this.#process.send(message, () => {});
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#process;
    if (pid === undefined) return;
    try {
      process.kill(process.platform === "win32" ? pid : -pid, signal);
    } catch {
      // All processes of the group have exited.
    }
  }
}

/** Returns null if the process has exited or the system is not Linux. */
async function residentBytesOf(pid: number | undefined): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1024;
}
