import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";

/** A file system in memory, mounted over a folder, that can be made full and roomy again. */
export interface SmallDisk {
  fill(): void;
  makeRoom(): void;
  unmount(): void;
}

/** Room costs no memory until it is used. */
const ROOM = "2g";
/** The least that holds anything: a page. */
const FULL = "4k";

/** Null if file systems cannot be mounted. */
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
      // A file system cannot shrink below its content: then that is its size.
      const used = execFileSync("df", ["--output=used", "--block-size=1k", folder], { encoding: "utf8" });
      const usedKib = Number(used.trim().split("\n").at(-1));
      resize(usedKib === 0 ? FULL : `${usedKib}k`);
    },
    makeRoom: () => void resize(ROOM),
    unmount: () => void execFileSync("umount", ["--lazy", folder], { stdio: "ignore" }),
  };
}
