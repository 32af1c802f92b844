import { readFileSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";

export const SPEECH_PROGRAM = join(import.meta.dirname, "../../bin/subtext-speech.js");

/**
 * Returns how users start this program: by its name if the PATH leads to it, as in the image and in a global
 * installation; otherwise with npx, by the name of the installed package or, in a clone, of the program.
 * @param program absolute path, two folders below the `package.json` of the package or the clone
 */
export function commandPrefix(program: string, searchPath = process.env.PATH ?? ""): string {
  const name = basename(program, ".js");
  // npm and npx add `node_modules/.bin` only for the processes that they start.
  const folders = searchPath
    .split(delimiter)
    .filter((folder) => folder !== "" && !folder.endsWith(join("node_modules", ".bin")));
  if (folders.some((folder) => isSameFile(join(folder, name), program))) return name;
  const manifest = JSON.parse(readFileSync(join(dirname(program), "../../package.json"), "utf8"));
  return `npx ${manifest.private ? name : manifest.name}`;
}

function isSameFile(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
