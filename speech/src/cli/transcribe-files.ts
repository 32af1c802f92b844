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
import { openProgressBar, progressTerminal, type Terminal } from "./terminal.ts";
import { showTranscription, summaryOf } from "./transcription-display.ts";

type TranscribeTerminal = Pick<Terminal, "err" | "errColumns" | "memoryLimit">;

const HEARTBEAT_TIMEOUT_MS = 30_000;
/** Memory of this process; the speech process has its own limit. */
const COMMAND_BYTES = 100_000_000;
const FAILED = 1;
const NO_WORDS: Record<string, string> = {
  zxx: "no speech",
  und: "the language could not be determined",
};
/** By convention, the exit code is this plus the number of the signal that ended the process. */
const SIGNAL_EXIT_CODE = 128;

/** Returns a signal that aborts on SIGINT and SIGTERM with the signal's name as the reason. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => stop.abort(name));
  return stop.signal;
}

/**
 * Transcribes files one after another. A failure does not stop the remaining files.
 * @param stop when aborted, ends the command within a second
 * @returns the exit code
 */
export async function transcribeFiles(
  files: readonly string[],
  settings: TranscribeSettings,
  terminal: TranscribeTerminal,
  stop: AbortSignal,
  onOutcome: (file: string, outcome: FileOutcome) => void | Promise<void>,
): Promise<number> {
  const { program } = settings;
  const note = (text: string) => {
    if (!settings.quiet) terminal.err(`${program}: ${text}\n`);
  };
  const printError = (subject: string, { code, message }: OutcomeError) =>
    terminal.err(`${program}: ${subject}${code}: ${message}\n`);

  let speech: Speech | null = null;
  let exitCode = 0;
  try {
    speech = await openSpeech(settings, terminal, stop, note);
    for (const file of files) {
      const outcome = await transcribeFile(speech, file, settings, terminal, stop);
      if (outcome.outcome === "failed") {
        exitCode = FAILED;
        printError(`${file}: `, outcome.error);
      } else {
        for (const text of notesOn(outcome)) note(`${file}: ${text}`);
      }
      await onOutcome(file, outcome);
    }
    return exitCode;
  } catch (error) {
    if (stop.aborted) return SIGNAL_EXIT_CODE + osConstants.signals[stop.reason as NodeJS.Signals];
    printError("", describeError(error));
    return FAILED;
  } finally {
    await speech?.close();
  }
}

/** Loads the engines, so their errors are reported before the first file. */
async function openSpeech(
  settings: TranscribeSettings,
  terminal: TranscribeTerminal,
  stop: AbortSignal,
  note: (text: string) => void,
): Promise<Speech> {
  const { threads, memoryLimitBytes, ffmpegPath, quiet, program } = settings;
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
  const screen = quiet ? null : progressTerminal(terminal);
  const display = screen && openProgressBar(program, screen);
  try {
    display?.show({ share: null, text: "loading engines" });
    const { engines } = await speech.describe();
    display?.erase();
    for (const { name, warnings } of engines) for (const each of warnings) note(`${name}: ${each}`);
    return speech;
  } catch (error) {
    display?.erase();
    await speech.close();
    throw error;
  }
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
  const screen = quiet ? null : progressTerminal(terminal);
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

/** Accepts only regular files, because a pipe or a device may be endless or readable only once. */
async function requireFile(path: string): Promise<void> {
  await access(path, constants.R_OK);
  const found = await stat(path);
  if (found.isFile()) return;
  const what = found.isDirectory() ? "a folder" : "a pipe, a socket or a device";
  throw new SpeechError("unsupported_media", `This is ${what}, not a file.`);
}

function notesOn(result: TranscribeResult): string[] {
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
