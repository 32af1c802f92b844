import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { runCommandLine } from "./cli/program.ts";
import type { EnvFile } from "./config/unknown-settings.ts";

// Only this process's user can access what the process and its children create: files get 0600, folders 0700.
process.umask(0o077);

// If a reader closes the pipe early (`| head`), that is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

const envFile = readEnvFile(".env");
// Libraries read other variables from the environment, such as AWS_….
if (envFile !== null) process.loadEnvFile(envFile.path);

const exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  envFile,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  // Terminals of unknown width report 0.
  errColumns: () => (process.stderr.isTTY ? process.stderr.columns || 80 : null),
});
// After a failure, open resources could keep the process alive.
if (exitCode === 0) process.exitCode = 0;
else process.exit(exitCode);

/** Returns null if the file does not exist. */
function readEnvFile(path: string): EnvFile | null {
  try {
    return { path, values: parseEnv(readFileSync(path, "utf8")) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
