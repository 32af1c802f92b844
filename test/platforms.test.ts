import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import packageJson from "../package.json" with { type: "json" };
import { PLATFORMS } from "../packaging/speech-parts.ts";

const ROOT = join(import.meta.dirname, "..");

interface LockedPackage {
  dev?: boolean;
  os?: string[];
  cpu?: string[];
  hasInstallScript?: boolean;
  optionalDependencies?: Record<string, string>;
}

const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
  packages: Record<string, LockedPackage>;
};
const shipped = Object.entries(lock.packages).filter(
  ([path, { dev }]) => path.includes("node_modules/") && !dev,
);

test("a package with native binaries in separate packages has one for each platform", () => {
  const parents = shipped.flatMap(([path, { optionalDependencies = {} }]) => {
    const parts = Object.keys(optionalDependencies)
      .map((name) => lock.packages[`node_modules/${name}`])
      .filter((part) => part?.os && part.cpu);
    return parts.length === 0 ? [] : [{ path, parts }];
  });
  expect(parents.map(({ path }) => path)).toContain("node_modules/node-av");
  const missing = parents.flatMap(({ path, parts }) =>
    PLATFORMS.filter((platform) => {
      const [os = "", cpu = ""] = platform.split("-");
      return !parts.some((part) => part?.os?.includes(os) && part.cpu?.includes(cpu));
    }).map((platform) => `${path}: ${platform}`),
  );
  expect(missing).toEqual([]);
});

test("a package that contains native binaries has one for each platform", () => {
  const parents = shipped
    .filter(([, { os, cpu }]) => !(os && cpu))
    .map(([path]) => ({ path, parts: findNativeFiles(path) }))
    .filter(({ parts }) => parts.length > 0);
  expect(parents.map(({ path }) => path)).toEqual([
    "node_modules/fs-native-extensions",
    "node_modules/onnxruntime-node",
  ]);
  const missing = parents.flatMap(({ path, parts }) =>
    PLATFORMS.filter((platform) => {
      const folder = new RegExp(`/${platform.replace("-", "[-/]")}/`);
      return !parts.some((part) => folder.test(part));
    }).map((platform) => `${path}: ${platform}`),
  );
  expect(missing).toEqual([]);
});

test("no other package has an install script, which could build or download native binaries", () => {
  const scripted = shipped.filter(([, { hasInstallScript }]) => hasInstallScript);
  const names = scripted.map(([path]) => path.replace("node_modules/", ""));
  expect(names.sort()).toEqual(Object.keys(packageJson.allowScripts).sort());
});

/** Ignores nested packages. */
function findNativeFiles(path: string): string[] {
  const names = listFiles(join(ROOT, path));
  return names.filter((name) => name.endsWith(".node") && !name.includes("node_modules/"));
}

/** Returns an empty list for an optional package that is not installed. */
function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return [];
  }
}
