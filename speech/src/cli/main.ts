import { readMemoryLimit } from "../processes/memory-limit.ts";
import { runCommandLine } from "./program.ts";

// A closed pipe (`| head`) is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

const exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  // Terminals with an unknown width report 0.
  errColumns: () => (process.stderr.isTTY ? process.stderr.columns || 80 : null),
  memoryLimit: () => readMemoryLimit(),
});
// Open handles of a failed command could keep the process alive.
if (exitCode === 0) process.exitCode = 0;
else process.exit(exitCode);
