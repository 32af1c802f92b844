import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** A build of the current sources. */
    dashboardFolder: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await buildDashboard();
  project.provide("dashboardFolder", folder);
  return () => rm(folder, { recursive: true, force: true });
}

/** Builds into a new folder, because a server may still read files of an earlier build. */
export async function buildDashboard(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "subtext-pages-"));
  const args = [
    "run",
    "--silent",
    "build",
    "-w",
    "@subtext/dashboard",
    "--",
    "--outDir",
    folder,
    "--emptyOutDir",
  ];
  execFileSync("npm", args, { stdio: "inherit" });
  return folder;
}
