import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { runCommandLine } from "./cli/program.ts";
import type { EnvFile } from "./config/unknown-settings.ts";

// Only the user of this process can access what it and its children create: files get 0600, folders 0700.
process.umask(0o077);

// A reader that has seen enough (`| head`) is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

const envFile = readEnvFile(".env");
// What is not for us is read from there by others, such as AWS_… by its own library.
if (envFile !== null) process.loadEnvFile(envFile.path);

const exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  envFile,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  // Terminals that do not know their width say 0.
  errColumns: () => (process.stderr.isTTY ? process.stderr.columns || 80 : null),
});
// What failed half way may have left parts open that would keep the process alive.
if (exitCode === 0) process.exitCode = 0;
else process.exit(exitCode);

/** Null where there is none. */
function readEnvFile(path: string): EnvFile | null {
  try {
    return { path, values: parseEnv(readFileSync(path, "utf8")) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
