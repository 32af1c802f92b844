import { spawnSync } from "node:child_process";
import { chmod } from "node:fs/promises";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./service.ts";

/** Returns a folder that this user cannot write to; null if none can be made. */
export async function readOnlyFolder(): Promise<string | null> {
  const folder = await temporaryFolder();
  if (process.getuid?.() !== 0) {
    await chmod(folder, 0o555);
    return folder;
  }
  // Permissions do not apply to root.
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "ro", "tmpfs", folder]);
  if (mounted.status !== 0) return null;
  onTestFinished(() => void spawnSync("umount", [folder]));
  return folder;
}
