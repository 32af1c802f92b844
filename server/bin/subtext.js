#!/usr/bin/env node
// Plain JavaScript, so that a Node.js that can not run the sources gets as far as saying so.
import * as module from "node:module";
import { join } from "node:path";

// A fifth of a start is to compile the sources. What came of it is kept beside the packages, gone with the next `npm ci`;
// where that folder can not be written, or holds what another version made, nothing is lost. Never in a folder that all
// users share: whoever writes there would have their code run here.
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
