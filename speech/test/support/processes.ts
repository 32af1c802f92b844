import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Returns the pids of all descendants of a process, from Linux's /proc. */
export function descendants(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean);
    return children.map(Number).flatMap((child) => [child, ...existing(() => descendants(child), [])]);
  });
}

/** Returns the pids of descendants whose command line contains the text. */
export function descendantsRunning(pid: number, text: string): number[] {
  return descendants(pid).filter((child) => commandLine(child).includes(text));
}

/** Returns whether a process is running; zombies are not. */
export function runs(pid: number): boolean {
  const status = existing(() => readFileSync(`/proc/${pid}/status`, "utf8"), "");
  return status !== "" && !/^State:\s+Z/m.test(status);
}

/** Polls until the condition holds or the test times out. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

function commandLine(pid: number): string {
  return existing(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"), "");
}

/** Writes a program that runs Node.js with a module that is loaded first, and returns its path. */
export function nodeWithPreload(folder: string, source: string): string {
  const [preload, node] = [join(folder, "preload.mjs"), join(folder, "node")];
  writeFileSync(preload, source);
  writeFileSync(node, `#!/bin/sh\nexec "${process.execPath}" --import "${preload}" "$@"\n`);
  chmodSync(node, 0o755);
  return node;
}

/** Until the end of the test, makes Node.js processes that start with `process.execPath` load this module first. */
export function preloadInChildren(folder: string, source: string): void {
  const { execPath } = process;
  process.execPath = nodeWithPreload(folder, source);
  onTestFinished(() => {
    process.execPath = execPath;
  });
}

/** A module for `preloadInChildren` that simulates a system that is too old for native code. */
export const FAILING_NATIVE_CODE = `
  process.dlopen = () => {
    throw new Error("libc.so.6: version \`GLIBC_9.9' not found");
  };`;

/** Returns `otherwise` if the process has ended since it was listed. */
function existing<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
