import { SpeechError } from "@subtext/speech/errors";
import { Command, CommanderError } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { AppError } from "../lib/errors.ts";
import { addAudit } from "./commands/audit.ts";
import { addBackup, addRestore } from "./commands/backup.ts";
import { addMigrate, addUpgradeDatabase } from "./commands/database.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addEnvironments } from "./commands/environments.ts";
import { addKeys } from "./commands/keys.ts";
import { addModels } from "./commands/models.ts";
import { addMove } from "./commands/move.ts";
import { addOperators } from "./commands/operators.ts";
import { addServe } from "./commands/serve.ts";
import { addSetup } from "./commands/setup.ts";
import { addStorage } from "./commands/storage.ts";
import { addTranscribe } from "./commands/transcribe.ts";
import { addTranscriptions } from "./commands/transcriptions.ts";
import { addWebhooks } from "./commands/webhooks.ts";
import type { Terminal } from "./context.ts";
import { ProblemError } from "./internal-client.ts";

const FAILED = 1;
const USAGE_ERROR = 2;

/**
 * @param args without the paths of Node.js and the program
 * @returns the exit code: 0 for success, 1 if the command failed, 2 for a usage error, 130 or 143 if a signal stopped
 * `transcribe`
 */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return exitCodeOf(error);
    terminal.err(`subtext: ${describe(error)}\n`);
    return FAILED;
  }
}

export function createProgram(terminal: Terminal): Command {
  const program = new Command("subtext")
    .description("Self-hosted transcription for applications that take video uploads.")
    .version(packageJson.version)
    .option("--json", "print JSON instead of text")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .exitOverride();
  addServe(program, terminal);
  addSetup(program, terminal);
  addTranscribe(program, terminal);
  addEnvironments(program, terminal);
  addKeys(program, terminal);
  addWebhooks(program, terminal);
  addTranscriptions(program, terminal);
  addModels(program, terminal);
  addOperators(program, terminal);
  addAudit(program, terminal);
  addDoctor(program, terminal);
  addMigrate(program, terminal);
  addBackup(program, terminal);
  addRestore(program, terminal);
  addMove(program, terminal);
  addStorage(program, terminal);
  addUpgradeDatabase(program, terminal);
  return program;
}

/** Returns the message followed by the error's code, which docs/errors.md explains. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isKnown = error instanceof AppError || error instanceof ProblemError || error instanceof SpeechError;
  if (!isKnown) return error.message;
  // A message of several lines ends with a command, which users copy.
  const separator = error.message.includes("\n") ? "\n" : " ";
  return `${error.message}${separator}(${error.code})`;
}

/** Commander exits with 1 for usage errors. Commands throw their own CommanderErrors to set other exit codes. */
function exitCodeOf({ code, exitCode }: CommanderError): number {
  if (exitCode === 0) return 0;
  return code.startsWith("commander.") ? USAGE_ERROR : exitCode;
}
