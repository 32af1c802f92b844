#!/usr/bin/env node
// Plain JavaScript, so that a version of Node.js that cannot run TypeScript prints an error message.
import * as module from "node:module";
import { join } from "node:path";

// By default, glibc keeps freed memory for reuse, which raises idle memory by a third. glibc reads this threshold only
// when a program starts, so the process replaces itself. It keeps its process id.
const TRIM_THRESHOLD = "MALLOC_TRIM_THRESHOLD_";
if (process.argv[2] === "serve" && process.platform === "linux" && !process.env[TRIM_THRESHOLD]) {
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, args, { ...process.env, [TRIM_THRESHOLD]: String(128 * 1024) });
}

// Compiling the sources takes a fifth of the startup time, so Node.js caches the result in node_modules. It ignores a
// cache that it cannot write or that another version created. The cache must not be in a folder that other users can
// write to, because they could inject code.
module.enableCompileCache?.(join(import.meta.dirname, "../../node_modules/.cache/subtext"));

if (process.features.typescript) {
  await import("../src/cli.ts");
} else {
  console.error(
    `subtext: Node.js 22.19 or newer is required; this is ${process.versions.node}. ` +
      "In a clone, `npx subtext` uses the version that `npm ci` installs.",
  );
  process.exitCode = 1;
}
