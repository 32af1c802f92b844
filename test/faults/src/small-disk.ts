import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";

/** An in-memory file system, mounted over a folder, whose free space can be removed and restored. */
export interface SmallDisk {
  fill(): void;
  makeRoom(): void;
  unmount(): void;
}

/** Unused space does not occupy memory. */
const NORMAL_SIZE = "2g";
/** One page, the smallest size that tmpfs accepts. */
const MIN_SIZE = "4k";

/** Returns null if this user cannot mount file systems. */
export function mountSmallDisk(folder: string): SmallDisk | null {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${NORMAL_SIZE},mode=700`, "tmpfs", folder], {
      stdio: "ignore",
    });
  } catch {
    return null;
  }
  const resize = (size: string) =>
    execFileSync("mount", ["-o", `remount,size=${size}`, folder], { stdio: "ignore" });
  return {
    fill() {
      // A file system cannot shrink below the size of its content.
      const used = execFileSync("df", ["--output=used", "--block-size=1k", folder], { encoding: "utf8" });
      const usedKib = Number(used.trim().split("\n").at(-1));
      resize(usedKib === 0 ? MIN_SIZE : `${usedKib}k`);
    },
    makeRoom: () => void resize(NORMAL_SIZE),
    unmount: () => void execFileSync("umount", ["--lazy", folder], { stdio: "ignore" }),
  };
}
