import { Command, CommanderError } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { addAudit } from "./audit.ts";
import { addBackup } from "./backup.ts";
import type { Terminal } from "./context.ts";
import { addDoctor } from "./doctor.ts";
import { addEnvironments } from "./environments.ts";
import { addKeys } from "./keys.ts";
import { addMigrate } from "./migrate.ts";
import { addModels } from "./models.ts";
import { addMove } from "./move.ts";
import { addOperators } from "./operators.ts";
import { addRestore } from "./restore.ts";
import { addServe } from "./serve.ts";
import { addSetup } from "./setup.ts";
import { addStorage } from "./storage.ts";
import { addTranscribe } from "./transcribe.ts";
import { addTranscriptions } from "./transcriptions.ts";
import { addUpgradeDatabase } from "./upgrade-database.ts";
import { addWebhooks } from "./webhooks.ts";

const FAILED = 1;
const USAGE_ERROR = 2;

/**
 * @param args without the paths of Node.js and the program
 * @returns the exit code: 0 for success, 1 if the command failed, 2 for a usage error
 */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return exitCodeOf(error);
    terminal.err(`subtext: ${error instanceof Error ? error.message : String(error)}\n`);
    return FAILED;
  }
}

export function createProgram(terminal: Terminal): Command {
  const program = new Command("subtext")
    .description("Transcribes every video that finishes uploading, on your own machine.")
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

/** Commander's own exit code for usage errors is 1. */
function exitCodeOf({ code, exitCode }: CommanderError): number {
  if (exitCode === 0) return 0;
  return code.startsWith("commander.") ? USAGE_ERROR : exitCode;
}
