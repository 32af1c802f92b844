import { access, constants, stat } from "node:fs/promises";
import { constants as osConstants } from "node:os";
import { basename, resolve } from "node:path";
import { getSystemErrorMessage } from "node:util";
import { SpeechError } from "../errors.ts";
import { createSpeech, type Speech } from "../processes/process-pool.ts";
import type { TranscribeResult } from "../transcript.ts";
import { findEngines } from "./find-engines.ts";
import type { FileOutcome, OutcomeError } from "./outcome.ts";
import type { TranscribeSettings } from "./settings.ts";
import type { Terminal } from "./terminal.ts";
import { openProgressBar, type ProgressTerminal } from "./terminal.ts";
import { showTranscription, summaryOf } from "./transcription-display.ts";

type TranscribeTerminal = Pick<Terminal, "err" | "errColumns" | "memoryLimit">;

const HEARTBEAT_TIMEOUT_MS = 30_000;
/** Memory of this command, in addition to its speech process. */
const COMMAND_BYTES = 100_000_000;
const FAILED = 1;
const NO_WORDS: Record<string, string> = {
  zxx: "nobody speaks",
  und: "the language could not be determined",
};
/** Shells add this to the number of the signal that ended a process. */
const SIGNALLED = 128;

/** Aborts on Ctrl-C and SIGTERM; the reason is the signal's name. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => stop.abort(name));
  return stop.signal;
}

/**
 * Transcribes files one after another. A failure does not stop the remaining files.
 * @param stop aborts the command within a second
 * @param onOutcome receives the result of each file
 * @returns the exit code
 */
export async function transcribeFiles(
  files: readonly string[],
  settings: TranscribeSettings,
  terminal: TranscribeTerminal,
  stop: AbortSignal,
  onOutcome: (file: string, outcome: FileOutcome) => void | Promise<void>,
): Promise<number> {
  const program = settings.calledAs.replace("npx ", "");
  const remark = (text: string) => {
    if (!settings.quiet) terminal.err(`${program}: ${text}\n`);
  };
  const complain = (subject: string, { code, message }: OutcomeError) =>
    terminal.err(`${program}: ${subject}${code}: ${message}\n`);

  let speech: Speech | null = null;
  let exitCode = 0;
  try {
    speech = await openSpeech(settings, terminal, stop, remark);
    for (const file of files) {
      const outcome = await transcribeFile(speech, file, settings, terminal, stop);
      if (outcome.outcome === "failed") {
        exitCode = FAILED;
        complain(`${file}: `, outcome.error);
      } else {
        for (const text of remarksOn(outcome)) remark(`${file}: ${text}`);
      }
      await onOutcome(file, outcome);
    }
    return exitCode;
  } catch (error) {
    if (stop.aborted) return SIGNALLED + osConstants.signals[stop.reason as NodeJS.Signals];
    complain("", describeError(error));
    return FAILED;
  } finally {
    await speech?.close();
  }
}

/** Loads the engines, so that their errors are reported before the first file. */
async function openSpeech(
  settings: TranscribeSettings,
  terminal: TranscribeTerminal,
  stop: AbortSignal,
  remark: (text: string) => void,
): Promise<Speech> {
  const { threads, memoryLimitBytes, ffmpegPath, quiet, calledAs } = settings;
  const parts = await findEngines(settings);
  const limit = terminal.memoryLimit();
  stop.throwIfAborted();
  const speech = createSpeech({
    parts: () => parts,
    processes: 1,
    threads,
    memoryLimitBytes,
    memory: limit && { ...limit, reservedBytes: COMMAND_BYTES },
    heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS,
    ...(ffmpegPath !== null && { ffmpegPath }),
  });
  stop.addEventListener("abort", () => void speech.close(), { once: true });
  const screen = quiet ? null : screenOf(terminal);
  const display = screen && openProgressBar(calledAs.replace("npx ", ""), screen);
  try {
    display?.show({ share: null, text: "loading engines" });
    const { engines } = await speech.describe();
    display?.erase();
    for (const { name, warnings } of engines) for (const each of warnings) remark(`${name}: ${each}`);
    return speech;
  } catch (error) {
    display?.erase();
    await speech.close();
    throw error;
  }
}

/** The terminal to draw on; null if the output is not a terminal. */
function screenOf({ err, errColumns }: TranscribeTerminal): ProgressTerminal | null {
  return errColumns() === null ? null : { write: err, columns: () => errColumns() ?? 80 };
}

/** @throws the reason of `stop` */
async function transcribeFile(
  speech: Speech,
  file: string,
  { maxDurationSeconds, quiet }: TranscribeSettings,
  terminal: TranscribeTerminal,
  stop: AbortSignal,
): Promise<FileOutcome> {
  const path = resolve(file);
  const screen = quiet ? null : screenOf(terminal);
  const display = screen && showTranscription(basename(file), screen);
  let result: TranscribeResult;
  try {
    await requireFile(path);
    result = await speech.transcribe(path, {
      maxDurationSeconds,
      signal: stop,
      onProgress: (progress) => display?.show(progress),
    });
  } catch (error) {
    stop.throwIfAborted();
    return { outcome: "failed", error: describeError(error) };
  } finally {
    display?.erase();
  }
  if (result.outcome === "transcribed") screen?.write(`${basename(file)}  ${summaryOf(result)}\n`);
  return result;
}

/** Rejects everything except regular files: other files may be endless, or readable only once. */
async function requireFile(path: string): Promise<void> {
  await access(path, constants.R_OK);
  const found = await stat(path);
  if (found.isFile()) return;
  const what = found.isDirectory() ? "a folder" : "a pipe or a device";
  throw new SpeechError("unsupported_media", `This is ${what}, not a file.`);
}

function remarksOn(result: TranscribeResult): string[] {
  if (result.outcome === "skipped") return [`nothing to transcribe: ${result.reason}`];
  return [
    ...(result.incomplete ? ["parts are damaged and missing from the transcript"] : []),
    ...(result.words.length === 0 ? [NO_WORDS[result.language] ?? "no words were recognized"] : []),
  ];
}

function describeError(error: unknown): OutcomeError {
  if (error instanceof SpeechError) return { code: error.code, message: error.message };
  const { code, errno, message } = error as NodeJS.ErrnoException;
  if (code !== undefined && errno !== undefined) return { code, message: getSystemErrorMessage(errno) };
  return { code: "internal_error", message: message ?? String(error) };
}
