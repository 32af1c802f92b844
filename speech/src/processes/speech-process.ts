import { type ChildProcess, fork } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Checkpoint } from "../checkpoints/checkpoint.ts";
import { SpeechError } from "../errors.ts";
import type { TranscribeProgress, TranscribeResult } from "../transcript.ts";
import type { Waveform } from "../waveform.ts";
import { lowerPriority } from "./lower-priority.ts";
import { furtherBytes } from "./memory.ts";
import {
  type FromSpeechProcess,
  fromErrorMessage,
  parseFromSpeechProcess,
  type SpeechDescription,
  type SpeechProcessConfig,
  type ToSpeechProcess,
} from "./process-messages.ts";
import { environmentFor, heapFlags, nodeEndingWithParent } from "./spawn-options.ts";

const MAIN = fileURLToPath(new URL("process-main.ts", import.meta.url));
/** How often heartbeat and memory are checked. */
const WATCH_INTERVAL_MS = 250;
/** Delay between SIGTERM and SIGKILL. */
const TERM_GRACE_MS = 2_000;
/** Maximum time of an abort before the process is killed. Callers expect an abort within a second. */
const ABORT_GRACE_MS = 800;
const MEBIBYTE = 1024 ** 2;

export interface SpeechProcessOptions {
  parts: SpeechProcessConfig;
  /**
   * Resident memory of the process with one or two threads and the bundled engine; it is killed if it exceeds
   * it. More threads, and a model loaded from files, are allowed more.
   */
  memoryLimitBytes: number;
  /** Upper limit whatever else is allowed: its share of the container's memory. */
  processBytes: number;
  /** It is killed after this long without a heartbeat. */
  heartbeatTimeoutMs: number;
  /** It is killed if it takes longer to load its engines, in spite of heartbeats. */
  loadTimeoutMs: number;
  /** A job without progress for this long is ended with its process, in spite of heartbeats. */
  stallTimeoutMs: number;
  /** Seconds of work between two checkpoints. */
  checkpointIntervalSeconds: number;
  /** Called with the lines that the process writes to its standard error. */
  log: (line: string) => void;
}

export interface JobOptions {
  maxDurationSeconds: number;
  signal: AbortSignal;
  onProgress?: (progress: TranscribeProgress) => void;
  /** Called at most once, when the recording is decoded, also if it fails afterwards. */
  onWaveform?: (waveform: Waveform) => void;
  /** Checkpoints of earlier work on the same recording: the result is the same, and most of its cost is saved. */
  checkpoints?: readonly Checkpoint[];
  /** Called at intervals with the results since the last call. */
  onCheckpoint?: (checkpoint: Checkpoint) => void;
}

interface Job {
  id: number;
  onProgress: ((progress: TranscribeProgress) => void) | undefined;
  onWaveform: ((waveform: Waveform) => void) | undefined;
  onCheckpoint: ((checkpoint: Checkpoint) => void) | undefined;
  settled: PromiseWithResolvers<TranscribeResult>;
  /**
   * Since its last progress; null before the first: until then only decoders work, which have limits of their
   * own.
   */
  stalledMs: number | null;
}

/**
 * Supervises a speech process: checks heartbeat and memory and kills it if they fail. Every end of the
 * process rejects its job with a SpeechError.
 */
export class SpeechProcess {
  readonly #options: SpeechProcessOptions;
  readonly #process: ChildProcess;
  readonly #ready = Promise.withResolvers<SpeechDescription>();
  readonly #exited = Promise.withResolvers<void>();
  readonly #watch: NodeJS.Timeout;
  /** Counts checks instead of reading the clock, so that pauses of this process do not count. */
  #silentMs = 0;
  /** Null once it is ready. */
  #loadingMs: number | null = 0;
  #modelBytes = 0;
  #lastLine = "";
  /** Why this process killed the speech process; null if it did not. */
  #fault: Error | null = null;
  #alive = true;
  #job: Job | null = null;
  #jobs = 0;

  constructor(options: SpeechProcessOptions) {
    this.#options = options;
    this.#process = fork(MAIN, {
      // Makes it the leader of a process group, so that its decoders can be ended with it.
      detached: true,
      env: environmentFor(options.parts, process.env),
      ...nodeEndingWithParent(["--disable-warning=ExperimentalWarning", ...heapFlags()]),
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    if (this.#process.pid !== undefined) lowerPriority(this.#process.pid);
    this.#process.on("message", (value) => this.#receive(value));
    this.#process.once("error", (error) => this.#ended(`did not start: ${error.message}`));
    this.#process.once("exit", (code, signal) => this.#ended(`ended by ${signal ?? `exit code ${code}`}`));
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => this.#logLines(text));
    this.#watch = setInterval(() => void this.#check(), WATCH_INTERVAL_MS);
    this.#ready.promise.catch(() => {});
    this.#send({ type: "open", parts: options.parts });
  }

  /**
   * Resolves when it can take its first job.
   * @throws SpeechError
   */
  get ready(): Promise<SpeechDescription> {
    return this.#ready.promise;
  }

  get usable(): boolean {
    return this.#alive && this.#fault === null;
  }

  /**
   * Runs one job at a time. After an abort it rejects only when the process has stopped the job or was killed
   * because it did not.
   * @throws SpeechError, or the signal's reason
   */
  async transcribe(path: string, options: JobOptions): Promise<TranscribeResult> {
    const { signal, maxDurationSeconds, checkpoints = [], onCheckpoint } = options;
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
    };
    let abortTimer: NodeJS.Timeout | undefined;
    const abort = () => {
      this.#send({ type: "abort", job: job.id });
      abortTimer = setTimeout(
        () => this.#end(new SpeechError("engine_hung", "The speech process did not stop an aborted job.")),
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

  /** Ends it with SIGTERM, then SIGKILL; resolves when it has exited. */
  async stop(): Promise<void> {
    if (!this.#alive) return;
    this.#fault ??= new Error("The speech process was stopped.");
    this.#signal("SIGTERM");
    const grace = setTimeout(() => this.#signal("SIGKILL"), TERM_GRACE_MS);
    await this.#exited.promise;
    clearTimeout(grace);
  }

  #receive(value: unknown): void {
    this.#silentMs = 0;
    let message: FromSpeechProcess;
    try {
      message = parseFromSpeechProcess(value);
    } catch (cause) {
      this.#end(new SpeechError("engine_crashed", "The speech process sent an invalid message.", { cause }));
      return;
    }
    if (message.type === "loading") this.#modelBytes = message.modelBytes;
    else if (message.type === "ready") {
      this.#loadingMs = null;
      this.#ready.resolve(message.description);
    } else if (message.type === "alive") this.#checkMemory(message.residentBytes);
    else if (message.type === "unusable") this.#end(fromErrorMessage(message.error));
    else if (message.job === this.#job?.id) {
      if (message.type === "progress") {
        this.#job.stalledMs = 0;
        this.#job.onProgress?.(message.progress);
      } else if (message.type === "waveform") this.#job.onWaveform?.(message.waveform);
      else if (message.type === "checkpoint") this.#job.onCheckpoint?.(message.checkpoint);
      else if (message.type === "transcribed") this.#job.settled.resolve(message.result);
      else this.#failed(this.#job, fromErrorMessage(message.error));
    }
  }

  #failed({ settled }: Job, error: Error): void {
    // It would survive without one of its threads and fail every further job.
    const hasLostThread = error instanceof SpeechError && error.code === "engine_crashed";
    if (hasLostThread) this.#end(error);
    else settled.reject(error);
  }

  /** Checks from outside, because a process that is busy in native code cannot report. */
  async #check(): Promise<void> {
    this.#silentMs += WATCH_INTERVAL_MS;
    if (this.#silentMs > this.#options.heartbeatTimeoutMs) {
      const seconds = Math.round(this.#silentMs / 1000);
      this.#end(new SpeechError("engine_hung", `The engine sent no heartbeat for ${seconds} s.`));
    }
    if (this.#loadingMs !== null) {
      this.#loadingMs += WATCH_INTERVAL_MS;
      if (this.#loadingMs > this.#options.loadTimeoutMs) {
        const seconds = Math.round(this.#loadingMs / 1000);
        this.#end(new SpeechError("engine_hung", `The engine did not load within ${seconds} s.`));
      }
    }
    if (this.#job !== null && this.#job.stalledMs !== null) {
      this.#job.stalledMs += WATCH_INTERVAL_MS;
      if (this.#job.stalledMs > this.#options.stallTimeoutMs) {
        const seconds = Math.round(this.#job.stalledMs / 1000);
        this.#end(new SpeechError("engine_hung", `The engine made no progress for ${seconds} s.`));
      }
    }
    const residentBytes = await residentBytesOf(this.#process.pid);
    if (residentBytes !== null) this.#checkMemory(residentBytes);
  }

  #checkMemory(residentBytes: number): void {
    const { memoryLimitBytes, processBytes, parts } = this.#options;
    const allowed = memoryLimitBytes + furtherBytes(parts.threads, this.#modelBytes);
    const limitBytes = Math.min(allowed, processBytes);
    if (residentBytes <= limitBytes) return;
    const [has, may] = [residentBytes, limitBytes].map((bytes) => Math.round(bytes / MEBIBYTE));
    this.#end(
      new SpeechError("engine_out_of_memory", `The engine used ${has} MiB; its limit is ${may} MiB.`),
    );
  }

  /** Kills the process immediately, because it cannot be expected to exit in response to SIGTERM. */
  #end(fault: Error): void {
    if (this.#fault !== null) return;
    this.#fault = fault;
    this.#signal("SIGKILL");
  }

  #ended(how: string): void {
    if (!this.#alive) return;
    this.#alive = false;
    clearInterval(this.#watch);
    // A process that was killed from outside leaves its decoders behind.
    this.#signal("SIGKILL");
    const line = this.#lastLine === "" ? "" : ` (${this.#lastLine})`;
    const fault = this.#fault ?? new SpeechError("engine_crashed", `The speech process ${how}${line}.`);
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
    // If the channel has just closed, the exit that follows settles the job.
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

/** Null if the system does not report it (outside Linux), or if the process has exited. */
async function residentBytesOf(pid: number | undefined): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1024;
}
