import { join } from "node:path";
import { commandPrefix } from "@subtext/speech/lib/command-prefix";

const PROGRAM = join(import.meta.dirname, "../../bin/subtext.js");

/** Returns how users run this command here, for messages: `npx subtext doctor`, `subtext doctor`. */
export function commandLine(args: string): string {
  return `${commandPrefix(PROGRAM)} ${args}`;
}

/** Returns the part of `commandLine` before the arguments: `npx subtext`. */
export function programCommand(): string {
  return commandPrefix(PROGRAM);
}
