import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { SpeechError } from "../errors.ts";
import { lowerPriority } from "../lib/lower-priority.ts";
import { DecoderLog } from "./decoder-log.ts";
import { MEMORY_BYTES } from "./limits.ts";

/** `LC_ALL` selects English messages, which `DecoderLog` parses. */
const ENVIRONMENT = { PATH: process.env.PATH ?? "", LC_ALL: "C" };

/** Twice the nice value of a speech process. With more, the process would exceed its time limit on a busy machine. */
const BACKGROUND_NICE_STEPS = 10;

/** Delay between SIGTERM and SIGKILL. */
const GRACE_MS = 300;
/** Maximum length of output that is read as text. */
const MAX_TEXT_CHARACTERS = 16_000_000;

export interface ChildOptions {
  command: string;
  args: readonly string[];
  /** Path of util-linux's `prlimit`, which sets limits; null if it is missing. */
  prlimit: string | null;
  /** The limit to set. Node.js reserves far more address space than it uses, so only its data can be limited. */
  memory: "address-space" | "data";
  /** Limits the CPU time, and separately the time spent waiting for output. Time between reads does not count. */
  timeoutSeconds: number;
  signal: AbortSignal;
  stream?: number;
  /** Whether the process gets a lower priority than transcription. */
  isBackground?: boolean;
  onMessage?: (message: unknown) => void;
}

/** A decoder in a child process with resource limits and a minimal environment. It is killed when its reader stops. */
export class DecoderProcess {
  readonly log: DecoderLog;
  /** Resolves when the process has exited and its standard error has been read. */
  readonly closed: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly #process: ChildProcess;
  readonly #stdout: Readable;
  readonly #options: ChildOptions;
  #ended = false;

  constructor(options: ChildOptions) {
    options.signal.throwIfAborted();
    this.#options = options;
    this.log = new DecoderLog(options.stream ?? null);
    const [command, args] = limited(options);
    this.#process = spawn(command, args, {
      stdio: options.onMessage ? ["ignore", "pipe", "pipe", "ipc"] : ["ignore", "pipe", "pipe"],
      env: ENVIRONMENT,
      detached: options.isBackground === true,
    });
    if (options.isBackground && this.#process.pid !== undefined) {
      lowerPriority(this.#process.pid, BACKGROUND_NICE_STEPS);
    }
    this.#stdout = this.#process.stdout!;
    this.#process.stderr!.setEncoding("utf8").on("data", (text: string) => this.log.add(text));
    if (options.onMessage) this.#process.on("message", options.onMessage);
    this.closed = new Promise((resolve, reject) => {
      this.#process.once("error", reject);
      this.#process.once("close", (code, signal) => {
        this.#ended = true;
        this.log.end();
        resolve({ code, signal });
      });
    });
    // `output` awaits `closed` only at the end. Until then, a failed start must not be an unhandled rejection.
    this.closed.catch(() => {});
  }

  /**
   * Yields standard output. Kills the process if the iteration ends early, the signal aborts or the timeout expires.
   * @throws the signal's reason; SpeechError `decoder_crashed`
   */
  async *output(): AsyncGenerator<Buffer> {
    const { signal, timeoutSeconds } = this.#options;
    const stop = () => this.kill();
    signal.addEventListener("abort", stop, { once: true });
    const chunks = this.#stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    let waitedMs = 0;
    let timedOut = false;
    try {
      while (true) {
        const startedAt = performance.now();
        const timer = setTimeout(
          () => {
            timedOut = true;
            this.kill();
          },
          Math.max(0, timeoutSeconds * 1000 - waitedMs),
        );
        // An error means that the process was killed, for the reason found below.
        const next = await chunks.next().catch(() => ({ done: true as const, value: undefined }));
        clearTimeout(timer);
        waitedMs += performance.now() - startedAt;
        if (next.done) break;
        yield next.value;
      }
      const { code, signal: killedBy } = await this.closed;
      signal.throwIfAborted();
      if (timedOut) {
        throw new SpeechError(
          "decoder_crashed",
          `The decoder exceeded its time limit of ${timeoutSeconds} s.`,
        );
      }
      // ffmpeg handles SIGXCPU and SIGTERM and exits with a code above 128.
      if (killedBy !== null || (code ?? 0) > 128) {
        const detail = this.log.last === null ? "" : `: ${this.log.last}`;
        const cause = killedBy === null ? `exited with code ${code}` : `was killed by ${killedBy}`;
        throw new SpeechError("decoder_crashed", `The decoder ${cause}${detail}.`);
      }
    } finally {
      signal.removeEventListener("abort", stop);
      this.kill();
    }
  }

  async text(): Promise<string> {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of this.output()) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MAX_TEXT_CHARACTERS)
        throw new SpeechError("decoder_crashed", "The decoder's output is too long.");
    }
    return text;
  }

  kill(): void {
    if (this.#ended) return;
    this.#stdout.destroy();
    this.#process.kill("SIGTERM");
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), GRACE_MS);
    this.#process.once("exit", () => {
      clearTimeout(timer);
      // Child processes of the decoder may still have the pipe open. Do not wait for them.
      this.#process.stderr!.destroy();
    });
  }
}

function limited(options: ChildOptions): [string, string[]] {
  const { command, args, prlimit, memory, timeoutSeconds } = options;
  if (prlimit === null) return [command, [...args]];
  return [
    prlimit,
    [
      `--${memory === "data" ? "data" : "as"}=${MEMORY_BYTES}`,
      `--cpu=${timeoutSeconds}`,
      "--core=0",
      "--fsize=0",
      "--",
      command,
      ...args,
    ],
  ];
}
