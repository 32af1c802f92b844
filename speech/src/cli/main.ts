import { readMemoryLimit } from "../processes/memory-limit.ts";
import { runCommandLine } from "./program.ts";

// A reader that has seen enough (`| head`) is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

const exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  // Terminals that do not know their width say 0.
  errColumns: () => (process.stderr.isTTY ? process.stderr.columns || 80 : null),
  memoryLimit: () => readMemoryLimit(),
});
// What failed half way may have left parts open that would keep the process alive.
if (exitCode === 0) process.exitCode = 0;
else process.exit(exitCode);
