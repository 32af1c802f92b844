import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { ENGINE_CHOICES } from "../engines/registry.ts";
import { commandPrefix, SPEECH_PROGRAM } from "../lib/command-prefix.ts";
import { addModelCommands } from "./model-commands.ts";
import { type FileOutcome, renderOutcome } from "./outcome.ts";
import { type Options, parseSeconds, readModelSettings, readSettings } from "./settings.ts";
import type { Terminal } from "./terminal.ts";
import { stopSignal, transcribeFiles } from "./transcribe-files.ts";

const FAILED = 1;
const INVALID_USAGE = 2;

/**
 * @param args without the paths of Node.js and the program
 * @returns the exit code: 0 for success, 1 for a failure, 2 for invalid usage, 130 after Ctrl-C
 */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode = 0;
  const program = createProgram(terminal, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return exitCodeOf(error);
    terminal.err(`subtext-speech: ${error instanceof Error ? error.message : String(error)}\n`);
    return FAILED;
  }
}

const NOTES = `
A file without sound is reported, but is not a failure.
Exit codes: 0 success, 1 a file or a command failed, 2 invalid usage, 130 interrupted by Ctrl-C.

Environment variables:
  MODELS_DIR                      same as --models-dir
  SPEECH_SERVER_KEYS              API key for --server, or one for each server, separated by commas
  MODEL_HUB_URL, MODEL_HUB_TOKEN  server from which \`models pull\` downloads`;

export function createProgram(terminal: Terminal, onExit: (exitCode: number) => void): Command {
  const program = new Command("subtext-speech")
    .description("Transcribes recordings, with the time of each word.")
    .version(packageJson.version)
    .argument("[files...]", "recordings: video or audio")
    .option("--json", "print a JSON object for each file, one per line")
    .option("--words", "print one line per word: start, end and word, separated by tabs")
    .addOption(new Option("--engine <name>", "speech engine").choices(ENGINE_CHOICES).default("auto"))
    .option("--model <name>", "a Whisper model from `models list`, or a folder that contains one")
    .option("--models-dir <folder>", "folder for models (default: ~/.cache/subtext/models)")
    .option("--server <url>", "use a server with OpenAI's API; repeat for several servers", append)
    .option("--server-model <name>", "name of the model on these servers", "whisper-1")
    .option("--threads <number>", "number of threads (default: number of cores, at most 4)", parseCount)
    .option(
      "--memory-limit <MiB>",
      "memory limit of the engine; higher with more threads or a larger model",
      parseCount,
      1600,
    )
    .option("--ffmpeg <path>", "path of ffmpeg; `none` uses the npm package node-av")
    .addOption(
      new Option("--max-duration <time>", "maximum duration of a recording: 5400, 90m, 12h")
        .argParser(parseSeconds)
        .default(parseSeconds("12h"), "12h"),
    )
    .option("-q, --quiet", "print only errors to standard error, no progress or notes")
    .addHelpText("after", NOTES)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .exitOverride();
  program.action(async (files: string[], options: Options) => {
    if (files.length === 0) program.help({ error: true });
    const settings = readSettings(options, terminal.env, (message) => program.error(`error: ${message}`));
    const stop = stopSignal();
    const form = { form: settings.form, withFileName: files.length > 1 };
    const print = (file: string, outcome: FileOutcome) => terminal.out(renderOutcome(file, outcome, form));
    onExit(await transcribeFiles(files, settings, terminal, stop, print));
  });
  addModelCommands(program, {
    terminal,
    settings: (command) => readModelSettings(command.optsWithGlobals<Options>(), terminal.env),
    calledAs: `${commandPrefix(SPEECH_PROGRAM)} models`,
    wantedBy: "the default",
  });
  return program;
}

function append(url: string, before: string[] = []): string[] {
  return [...before, url];
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("It must be an integer from 1 to 999999.");
  return Number(text);
}

/** Commander would exit with 1 for invalid usage. */
function exitCodeOf({ code, exitCode }: CommanderError): number {
  if (exitCode === 0) return 0;
  return code.startsWith("commander.") ? INVALID_USAGE : exitCode;
}
