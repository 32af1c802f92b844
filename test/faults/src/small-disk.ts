import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";

/** An in-memory file system, mounted over a folder, that can be filled and emptied. */
export interface SmallDisk {
  fill(): void;
  makeRoom(): void;
  unmount(): void;
}

/** Unused space does not occupy memory. */
const ROOM = "2g";
/** The smallest size that tmpfs accepts: one page. */
const FULL = "4k";

/** Returns null if this user cannot mount file systems. */
export function mountSmallDisk(folder: string): SmallDisk | null {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${ROOM},mode=700`, "tmpfs", folder], {
      stdio: "ignore",
    });
  } catch {
    return null;
  }
  const resize = (size: string) =>
    execFileSync("mount", ["-o", `remount,size=${size}`, folder], { stdio: "ignore" });
  return {
    fill() {
      // A file system cannot shrink below its content, so it gets the size of its content.
      const used = execFileSync("df", ["--output=used", "--block-size=1k", folder], { encoding: "utf8" });
      const usedKib = Number(used.trim().split("\n").at(-1));
      resize(usedKib === 0 ? FULL : `${usedKib}k`);
    },
    makeRoom: () => void resize(ROOM),
    unmount: () => void execFileSync("umount", ["--lazy", folder], { stdio: "ignore" }),
  };
}
