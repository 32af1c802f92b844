#!/usr/bin/env node
// Plain JavaScript, so that a Node.js version that cannot run the sources still prints an error message.
import * as module from "node:module";
import { join } from "node:path";

// glibc keeps freed memory for reuse: without this limit, a third more when idle, mostly from opening the embedded
// database. glibc reads the limit only when a program starts. The new program replaces this one and keeps its process id.
const MALLOC_LIMIT = "MALLOC_TRIM_THRESHOLD_";
if (process.argv[2] === "serve" && process.platform === "linux" && !process.env[MALLOC_LIMIT]) {
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, args, { ...process.env, [MALLOC_LIMIT]: String(128 * 1024) });
}

// Compiling the sources takes a fifth of the startup time, so the result is cached next to the packages until the next
// `npm ci`. A cache that is not writable, or was made by another version, is ignored. It is never in a folder that
// other users can write to: they could run code in this process.
module.enableCompileCache?.(join(import.meta.dirname, "../../node_modules/.cache/subtext"));

if (process.features.typescript) {
  await import("../src/cli.ts");
} else {
  console.error(
    `subtext: this is Node.js ${process.versions.node}; 22.18 or newer is needed. ` +
      "Start it with npx or npm from the project's folder, which bring their own: npx subtext",
  );
  process.exitCode = 1;
}
