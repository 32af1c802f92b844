import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { SpeechError } from "../errors.ts";
import { Complaints } from "./decoder-log.ts";
import { MEMORY_BYTES } from "./limits.ts";

/** All that a decoder gets of the environment: where programs are looked for, and messages in English. */
const ENVIRONMENT = { PATH: process.env.PATH ?? "", LC_ALL: "C" };

/** Milliseconds between the polite signal and the one that can not be refused. */
const GRACE_MS = 300;

export interface ChildOptions {
  command: string;
  args: readonly string[];
  /** The program of util-linux that sets limits; null where there is none. */
  prlimit: string | null;
  /** Which limit bounds the memory: Node reserves far more addresses than it ever uses. */
  memory: "address-space" | "data";
  /** Seconds of computing, and seconds that it may be waited for in all; time in which nobody reads is free. */
  patienceSeconds: number;
  signal: AbortSignal;
  /** Index of the stream that it decodes. */
  stream?: number;
  /** Given, the child gets a channel and these get its messages. */
  onMessage?: (message: unknown) => void;
}

/**
 * A decoder in a process of its own: under limits, without a shell, with hardly an environment, and never
 * outliving whoever reads from it.
 */
export class DecoderChild {
  readonly complaints: Complaints;
  /** Resolves when the process is gone and all it wrote to standard error is read. */
  readonly closed: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly #process: ChildProcess;
  readonly #stdout: Readable;
  readonly #options: ChildOptions;
  #ended = false;

  constructor(options: ChildOptions) {
    options.signal.throwIfAborted();
    this.#options = options;
    this.complaints = new Complaints(options.stream ?? null);
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
    // Whoever reads `output` to its end awaits `closed`; until then a failure to start must not go unhandled.
    this.closed.catch(() => {});
  }

  /**
   * Standard output as it comes, never more than a pipe full ahead. Ends the process when it is left early,
   * when the signal aborts, or when patience runs out.
   * @throws the signal's reason; SpeechError `decoder_crashed`
   */
  async *output(): AsyncGenerator<Buffer> {
    const { signal, patienceSeconds } = this.#options;
    const stop = () => this.kill();
    signal.addEventListener("abort", stop, { once: true });
    const chunks = this.#stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    let waitedMs = 0;
    let outOfPatience = false;
    try {
      while (true) {
        const asked = performance.now();
        const timer = setTimeout(
          () => {
            outOfPatience = true;
            this.kill();
          },
          Math.max(0, patienceSeconds * 1000 - waitedMs),
        );
        // An error here is the pipe breaking because the process was ended; how it ended is judged below.
        const next = await chunks.next().catch(() => ({ done: true as const, value: undefined }));
        clearTimeout(timer);
        waitedMs += performance.now() - asked;
        if (next.done) break;
        yield next.value;
      }
      const { code, signal: killedBy } = await this.closed;
      signal.throwIfAborted();
      if (outOfPatience) {
        throw new SpeechError("decoder_crashed", `The decoder took more than ${patienceSeconds} s of work.`);
      }
      // ffmpeg turns SIGXCPU and SIGTERM into exit codes above 128 where it can still act on them.
      if (killedBy !== null || (code ?? 0) > 128) {
        const detail = this.complaints.last === null ? "" : `: ${this.complaints.last}`;
        throw new SpeechError("decoder_crashed", `The decoder was ended by ${killedBy ?? code}${detail}.`);
      }
    } finally {
      signal.removeEventListener("abort", stop);
      this.kill();
    }
  }

  /** Everything it writes, for programs that write little. */
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
      // Whatever it may have started still holds the pipe; nobody waits for that.
      this.#process.stderr!.destroy();
    });
  }
}

function limited(options: ChildOptions): [string, string[]] {
  const { command, args, prlimit, memory, patienceSeconds } = options;
  if (prlimit === null) return [command, [...args]];
  return [
    prlimit,
    [
      `--${memory === "data" ? "data" : "as"}=${MEMORY_BYTES}`,
      `--cpu=${patienceSeconds}`,
      "--core=0",
      "--fsize=0",
      "--",
      command,
      ...args,
    ],
  ];
}
