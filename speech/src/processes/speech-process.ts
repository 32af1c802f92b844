import { type ChildProcess, fork } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { KeptStretch } from "../checkpoints/checkpoint.ts";
import { SpeechError } from "../errors.ts";
import type { TranscribeProgress, TranscribeResult } from "../transcript.ts";
import type { Waveform } from "../waveform.ts";
import { environmentFor } from "./environment.ts";
import { lowerPriority } from "./lower-priority.ts";
import { furtherBytes } from "./memory.ts";
import {
  type FromSpeechProcess,
  fromErrorMessage,
  parseFromSpeechProcess,
  type SpeechDescription,
  type SpeechParts,
  type ToSpeechProcess,
} from "./process-messages.ts";
import { heapFlags } from "./spawn-options.ts";

const MAIN = fileURLToPath(new URL("process-main.ts", import.meta.url));
/** How often life and memory are looked at. */
const WATCH_INTERVAL_MS = 250;
/** Between the polite signal and the one that can not be refused. */
const TERM_GRACE_MS = 2_000;
/** What an abort may take before the process is given up: work is to end within a second. */
const ABORT_GRACE_MS = 800;
const MEBIBYTE = 1024 ** 2;

export interface SpeechProcessOptions {
  parts: SpeechParts;
  /**
   * Resident bytes of the process with one or two threads and the bundled engine; one that grows past them is
   * ended. More threads, and a model that is loaded from files, are allowed more on top.
   */
  memoryLimitBytes: number;
  /** At most so much whatever else is allowed: what the container has for it. */
  processBytes: number;
  /** One that shows no sign of life for so long is ended. */
  heartbeatTimeoutMs: number;
  /** One that has not loaded its engines within so long is ended, whatever signs of life there are. */
  loadTimeoutMs: number;
  /** A job whose progress stands still for so long is ended with its process, whatever signs of life there are. */
  stallTimeoutMs: number;
  /** Seconds of work from one stretch that is told to the next. */
  keepEverySeconds: number;
  /** Gets the lines that the process writes to its standard error. */
  log: (line: string) => void;
}

export interface JobOptions {
  maxDurationSeconds: number;
  signal: AbortSignal;
  onProgress?: (progress: TranscribeProgress) => void;
  /** Called at most once, when the recording is decoded, also where it fails afterwards. */
  onWaveform?: (waveform: Waveform) => void;
  /** What was kept of earlier work on the same recording: its result is the same, and most of its cost is saved. */
  kept?: readonly KeptStretch[];
  /** Called every now and then with what was heard since the last call, for whoever keeps it. */
  onStretch?: (stretch: KeptStretch) => void;
}

interface Job {
  id: number;
  onProgress: ((progress: TranscribeProgress) => void) | undefined;
  onWaveform: ((waveform: Waveform) => void) | undefined;
  onStretch: ((stretch: KeptStretch) => void) | undefined;
  settled: PromiseWithResolvers<TranscribeResult>;
  /** Since its last progress; null before the first: until then it is decoders that work, within limits of their own. */
  stalledMs: number | null;
}

/**
 * A speech process as the service sees it: watched for signs of life and memory, ended when it shows the
 * wrong ones. Every end, whatever its cause, is told as a SpeechError to the job that it cost.
 */
export class SpeechProcess {
  readonly #options: SpeechProcessOptions;
  readonly #process: ChildProcess;
  readonly #ready = Promise.withResolvers<SpeechDescription>();
  readonly #exited = Promise.withResolvers<void>();
  readonly #watch: NodeJS.Timeout;
  /** Counted by looks rather than by the clock: time in which this process itself stood still is no silence. */
  #silentMs = 0;
  /** Null once it is ready. */
  #loadingMs: number | null = 0;
  #modelBytes = 0;
  #lastLine = "";
  /** Why it was ended, where it was us who ended it. */
  #fault: Error | null = null;
  #alive = true;
  #job: Job | null = null;
  #jobs = 0;

  constructor(options: SpeechProcessOptions) {
    this.#options = options;
    this.#process = fork(MAIN, {
      // Leader of a process group: what it starts can be ended with it.
      detached: true,
      env: environmentFor(options.parts, process.env),
      execArgv: ["--disable-warning=ExperimentalWarning", ...heapFlags()],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    if (this.#process.pid !== undefined) lowerPriority(this.#process.pid);
    this.#process.on("message", (value) => this.#receive(value));
    this.#process.once("error", (error) => this.#ended(`did not start: ${error.message}`));
    this.#process.once("exit", (code, signal) => this.#ended(`ended by ${signal ?? `exit code ${code}`}`));
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => this.#complained(text));
    this.#watch = setInterval(() => void this.#look(), WATCH_INTERVAL_MS);
    this.#ready.promise.catch(() => {});
    this.#send({ type: "open", parts: options.parts });
  }

  /** Resolves when it can take its first job. @throws SpeechError */
  get ready(): Promise<SpeechDescription> {
    return this.#ready.promise;
  }

  get usable(): boolean {
    return this.#alive && this.#fault === null;
  }

  /**
   * One job at a time. After an abort the returned promise is rejected only when the process has let go of
   * the job, or was ended because it did not.
   * @throws SpeechError, or the signal's reason
   */
  async transcribe(path: string, options: JobOptions): Promise<TranscribeResult> {
    const { signal, maxDurationSeconds, kept = [], onStretch } = options;
    await this.ready;
    signal.throwIfAborted();
    this.#jobs += 1;
    const job: Job = {
      id: this.#jobs,
      onProgress: options.onProgress,
      onWaveform: options.onWaveform,
      onStretch,
      settled: Promise.withResolvers(),
      stalledMs: null,
    };
    let impatience: NodeJS.Timeout | undefined;
    const abort = () => {
      this.#send({ type: "abort", job: job.id });
      impatience = setTimeout(
        () =>
          this.#end(new SpeechError("engine_hung", "The speech process did not let go of an aborted job.")),
        ABORT_GRACE_MS,
      );
    };
    this.#job = job;
    signal.addEventListener("abort", abort, { once: true });
    try {
      const everySeconds = onStretch === undefined ? null : this.#options.keepEverySeconds;
      this.#send({
        type: "transcribe",
        job: job.id,
        path,
        maxDurationSeconds,
        keeping: { kept, everySeconds },
      });
      return await job.settled.promise;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(impatience);
      signal.removeEventListener("abort", abort);
      this.#job = null;
    }
  }

  /** Ends it, politely first; resolves when it is gone. */
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
      this.#end(new SpeechError("engine_crashed", "The speech process sent what is no message.", { cause }));
      return;
    }
    if (message.type === "loading") this.#modelBytes = message.modelBytes;
    else if (message.type === "ready") {
      this.#loadingMs = null;
      this.#ready.resolve(message.description);
    } else if (message.type === "alive") this.#weigh(message.residentBytes);
    else if (message.type === "unusable") this.#end(fromErrorMessage(message.error));
    else if (message.job === this.#job?.id) {
      if (message.type === "progress") {
        this.#job.stalledMs = 0;
        this.#job.onProgress?.(message.progress);
      } else if (message.type === "waveform") this.#job.onWaveform?.(message.waveform);
      else if (message.type === "stretch") this.#job.onStretch?.(message.stretch);
      else if (message.type === "transcribed") this.#job.settled.resolve(message.result);
      else this.#failed(this.#job, fromErrorMessage(message.error));
    }
  }

  #failed({ settled }: Job, error: Error): void {
    // It lives on without one of its threads, and would fail every further job.
    const isCrippled = error instanceof SpeechError && error.code === "engine_crashed";
    if (isCrippled) this.#end(error);
    else settled.reject(error);
  }

  /** Looks from outside, because a process that is busy in native code can not tell of itself. */
  async #look(): Promise<void> {
    this.#silentMs += WATCH_INTERVAL_MS;
    if (this.#silentMs > this.#options.heartbeatTimeoutMs) {
      const seconds = Math.round(this.#silentMs / 1000);
      this.#end(new SpeechError("engine_hung", `The engine showed no sign of life for ${seconds} s.`));
    }
    if (this.#loadingMs !== null) {
      this.#loadingMs += WATCH_INTERVAL_MS;
      if (this.#loadingMs > this.#options.loadTimeoutMs) {
        const seconds = Math.round(this.#loadingMs / 1000);
        this.#end(new SpeechError("engine_hung", `The engine was not loaded within ${seconds} s.`));
      }
    }
    if (this.#job !== null && this.#job.stalledMs !== null) {
      this.#job.stalledMs += WATCH_INTERVAL_MS;
      if (this.#job.stalledMs > this.#options.stallTimeoutMs) {
        const seconds = Math.round(this.#job.stalledMs / 1000);
        this.#end(new SpeechError("engine_hung", `The engine came no further for ${seconds} s.`));
      }
    }
    const residentBytes = await residentBytesOf(this.#process.pid);
    if (residentBytes !== null) this.#weigh(residentBytes);
  }

  #weigh(residentBytes: number): void {
    const { memoryLimitBytes, processBytes, parts } = this.#options;
    const allowed = memoryLimitBytes + furtherBytes(parts.threads, this.#modelBytes);
    const limitBytes = Math.min(allowed, processBytes);
    if (residentBytes <= limitBytes) return;
    const [has, may] = [residentBytes, limitBytes].map((bytes) => Math.round(bytes / MEBIBYTE));
    this.#end(new SpeechError("engine_out_of_memory", `The engine took ${has} MiB; it may take ${may} MiB.`));
  }

  /** Ends it without grace: it has shown that it can not be trusted to end itself. */
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

  #complained(text: string): void {
    for (const line of text.split("\n")) {
      if (line.trim() === "") continue;
      this.#lastLine = line.trim();
      this.#options.log(this.#lastLine);
    }
  }

  #send(message: ToSpeechProcess): void {
    // Where the channel has just closed, the exit that follows settles the job.
    if (this.#process.connected) this.#process.send(message, () => {});
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#process;
    if (pid === undefined) return;
    try {
      process.kill(process.platform === "win32" ? pid : -pid, signal);
    } catch {
      // Nobody of the group is left.
    }
  }
}

/** Null where the system does not tell: outside Linux, or when the process is gone. */
async function residentBytesOf(pid: number | undefined): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1024;
}
