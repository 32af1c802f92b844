#!/usr/bin/env node
// Plain JavaScript, so that a Node.js that cannot run TypeScript prints this message.
if (process.features.typescript) {
  await import("../src/cli/main.ts");
} else {
  console.error(
    `subtext-speech: this is Node.js ${process.versions.node}; 22.18 or newer is needed. ` +
      "Start it with npx or npm from the project's folder, which bring their own: npx subtext-speech",
  );
  process.exitCode = 1;
}
