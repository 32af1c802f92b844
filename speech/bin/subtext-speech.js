#!/usr/bin/env node
// Plain JavaScript, so that a Node.js that cannot run TypeScript prints this message.
import * as module from "node:module";
import { join } from "node:path";

// Compiling the sources takes most of the time until the engine loads, so Node.js caches the result in node_modules. It
// ignores a cache that it cannot write. Other users must not be able to write to this folder, because they could inject code.
module.enableCompileCache?.(join(import.meta.dirname, "../../node_modules/.cache/subtext"));

if (process.features.typescript) {
  await import("../src/cli/main.ts");
} else {
  console.error(
    `subtext-speech: Node.js 22.19 or newer is required; this is ${process.versions.node}. ` +
      "In a clone, `npx subtext-speech` uses the version that `npm ci` installs.",
  );
  process.exitCode = 1;
}
