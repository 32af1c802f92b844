import { execFile } from "node:child_process";
import { readdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

export async function diskSpace(folder: string): Promise<{ totalBytes: number; freeBytes: number }> {
  const { blocks, bavail, bsize } = await statfs(folder);
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}

/**
 * Returns the disk usage of each subfolder, largest first. Runs `du`, so that hundreds of thousands of files do not
 * block this process.
 */
export async function diskUsage(folder: string): Promise<{ name: string; bytes: number }[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  if (names.length === 0) return [];
  const paths = names.map((name) => join(folder, name));
  const { stdout } = await promisify(execFile)("du", ["-sk", "--", ...paths]).catch(
    // If a file disappears meanwhile, `du` exits with 1, but its output is valid.
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? "" }),
  );
  const kilobytes = new Map(
    stdout.split("\n").flatMap((line) => {
      const [, count, path] = /^(\d+)\t(.*)$/.exec(line) ?? [];
      return path === undefined ? [] : [[path, Number(count)] as const];
    }),
  );
  return names
    .flatMap((name) => {
      const found = kilobytes.get(join(folder, name));
      return found === undefined ? [] : [{ name, bytes: found * 1024 }];
    })
    .sort((a, b) => b.bytes - a.bytes);
}
