/**
 * Publishes the tarballs of a folder that the registry does not have yet, the server last. The runtime packages have the
 * version of onnxruntime, so most releases skip them. A failed run can be repeated.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { PUBLISHED_NAMES } from "./names.ts";

const [folder = "dist-packages"] = process.argv.slice(2);
const tarballs = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".tgz"))
  .map((file) => resolve(folder, file))
  .map((path) => ({ path, ...readManifest(path) }));
/** The server depends on speech, and both depend on other packages. */
const LAST = [PUBLISHED_NAMES["@subtext/speech"], PUBLISHED_NAMES["@subtext/server"]];
const rank = ({ name }: { name: string }) => LAST.indexOf(name);
for (const { path, name, version } of tarballs.sort((a, b) => rank(a) - rank(b))) {
  if (isPublished(`${name}@${version}`)) console.log(`${name}@${version} is published already`);
  else execFileSync("npm", ["publish", "--provenance", "--access", "public", path], { stdio: "inherit" });
}

function readManifest(tarball: string): { name: string; version: string } {
  return JSON.parse(execFileSync("tar", ["-xzOf", tarball, "package/package.json"], { encoding: "utf8" }));
}

/** @throws Error if the registry cannot be queried */
function isPublished(id: string): boolean {
  const { status, stdout, stderr } = spawnSync("npm", ["view", "--json", id, "version"], {
    encoding: "utf8",
  });
  if (status === 0) return stdout.trim() !== "";
  if (stderr.includes("E404") || stdout.includes("E404")) return false;
  throw new Error(`npm view ${id}: ${stderr || stdout}`);
}
