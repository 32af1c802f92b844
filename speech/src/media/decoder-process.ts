import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { SpeechError } from "../errors.ts";
import { DecoderLog } from "./decoder-log.ts";
import { MEMORY_BYTES } from "./limits.ts";

/** The environment of a decoder: where to find programs, and English messages. */
const ENVIRONMENT = { PATH: process.env.PATH ?? "", LC_ALL: "C" };

/** Delay between SIGTERM and SIGKILL. */
const GRACE_MS = 300;

export interface ChildOptions {
  command: string;
  args: readonly string[];
  /** Path of util-linux's `prlimit`, which sets limits; null if it is missing. */
  prlimit: string | null;
  /** Which limit bounds the memory: Node reserves far more address space than it uses. */
  memory: "address-space" | "data";
  /** Limit for CPU seconds and for the total time that the reader waits; time between reads is not counted. */
  timeoutSeconds: number;
  signal: AbortSignal;
  /** Index of the stream that it decodes. */
  stream?: number;
  /** If given, the process gets an IPC channel and this gets its messages. */
  onMessage?: (message: unknown) => void;
}

/**
 * A decoder in a separate process: with limits, without a shell, with a minimal environment, and ended with
 * its reader.
 */
export class DecoderProcess {
  readonly complaints: DecoderLog;
  /** Resolves when the process has exited and its standard error has been read. */
  readonly closed: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly #process: ChildProcess;
  readonly #stdout: Readable;
  readonly #options: ChildOptions;
  #ended = false;

  constructor(options: ChildOptions) {
    options.signal.throwIfAborted();
    this.#options = options;
    this.complaints = new DecoderLog(options.stream ?? null);
    const [command, args] = limited(options);
    this.#process = spawn(command, args, {
      stdio: options.onMessage ? ["ignore", "pipe", "pipe", "ipc"] : ["ignore", "pipe", "pipe"],
      env: ENVIRONMENT,
    });
    this.#stdout = this.#process.stdout!;
    this.#process.stderr!.setEncoding("utf8").on("data", (text: string) => this.complaints.add(text));
    if (options.onMessage) this.#process.on("message", options.onMessage);
    this.closed = new Promise((resolve, reject) => {
      this.#process.once("error", reject);
      this.#process.once("close", (code, signal) => {
        this.#ended = true;
        this.complaints.end();
        resolve({ code, signal });
      });
    });
    // A reader of `output` awaits `closed` at the end; until then a failure to start must not be an unhandled
    // rejection.
    this.closed.catch(() => {});
  }

  /**
   * Yields standard output, at most one pipe buffer ahead. Ends the process if the iteration ends early, the
   * signal aborts or the timeout passes.
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
        const asked = performance.now();
        const timer = setTimeout(
          () => {
            timedOut = true;
            this.kill();
          },
          Math.max(0, timeoutSeconds * 1000 - waitedMs),
        );
        // An error here means that the process was ended; the reason is examined below.
        const next = await chunks.next().catch(() => ({ done: true as const, value: undefined }));
        clearTimeout(timer);
        waitedMs += performance.now() - asked;
        if (next.done) break;
        yield next.value;
      }
      const { code, signal: killedBy } = await this.closed;
      signal.throwIfAborted();
      if (timedOut) {
        throw new SpeechError("decoder_crashed", `The decoder took more than ${timeoutSeconds} s of work.`);
      }
      // ffmpeg turns SIGXCPU and SIGTERM into exit codes above 128 if it still can.
      if (killedBy !== null || (code ?? 0) > 128) {
        const detail = this.complaints.last === null ? "" : `: ${this.complaints.last}`;
        throw new SpeechError("decoder_crashed", `The decoder was ended by ${killedBy ?? code}${detail}.`);
      }
    } finally {
      signal.removeEventListener("abort", stop);
      this.kill();
    }
  }

  /** Returns the entire output. For programs with little output. */
  async text(maxCharacters = 16_000_000): Promise<string> {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of this.output()) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > maxCharacters)
        throw new SpeechError("decoder_crashed", "The decoder wrote too much.");
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
      // Its own child processes may still hold the pipe; do not wait for them.
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
