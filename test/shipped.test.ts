import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

interface LockedPackage {
  license?: string;
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
  link?: boolean;
}

/** Permissive licenses, and MPL-2.0, whose copyleft applies only to its own files. */
const ACCEPTED_LICENSES = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "ISC",
  "MIT",
  "MPL-2.0",
  "Unlicense",
  "(Apache-2.0 AND BSD-3-Clause)",
  "(MIT OR CC0-1.0)",
]);
/** Packages whose package.json names no license. */
const LICENSED_ELSEWHERE: Record<string, string> = {
  "combine-errors": "MIT, according to its README",
  "@shinyoshiaki/jspack": "BSD-3-Clause, according to its sources",
};

const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
  packages: Record<string, LockedPackage>;
};
const shipped = Object.entries(lock.packages)
  .filter(([path, { dev, link }]) => path.includes("node_modules/") && !dev && !link)
  .map(([path, locked]) => ({ path, name: path.replace(/^.*node_modules\//, ""), ...locked }));

test("every shipped package has a license that allows use in any product", () => {
  expect(shipped.length).toBeGreaterThan(100);
  const others = shipped
    .filter(({ name, license = "" }) => !ACCEPTED_LICENSES.has(license) && !(name in LICENSED_ELSEWHERE))
    .map(({ name, license }) => `${name}: ${license}`);
  expect(others).toEqual([]);
});

test("the decoder that contains a GPL build of FFmpeg is optional", () => {
  const decoders = shipped.filter(({ name }) => name === "node-av" || name.startsWith("@seydx/node-av-"));
  expect(decoders.length).toBeGreaterThan(1);
  for (const { name, optional, devOptional } of decoders) expect(optional || devOptional, name).toBe(true);
  expect(readFileSync(join(ROOT, "docs/licenses.md"), "utf8")).toContain("--omit=optional");
});

/** Matches all files that each workspace publishes. */
const PUBLISHED_FILES: Record<string, RegExp> = {
  captions: /^(README\.md|package\.json|src\/.*\.ts)$/,
  client: /^(README\.md|package\.json|src\/.*\.ts)$/,
  speech: /^(README\.md|package\.json|bin\/[\w-]+\.js|src\/.*\.ts)$/,
  server: /^(README\.md|package\.json|bin\/[\w-]+\.js|src\/.*\.ts|src\/db\/migrations\/\d{4}-[\w-]+\.sql)$/,
};

test.each(Object.entries(PUBLISHED_FILES))(
  "the package %s contains its sources and nothing else",
  (workspace, expected) => {
    const out = execFileSync(
      "npm",
      ["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=silent"],
      {
        cwd: join(ROOT, workspace),
        encoding: "utf8",
      },
    );
    const parsed = JSON.parse(out) as object;
    const [packed] = (Array.isArray(parsed) ? parsed : Object.values(parsed)) as [
      { files: { path: string }[] },
    ];
    const paths = packed.files.map(({ path }) => path);
    expect(paths.filter((path) => !expected.test(path))).toEqual([]);
    expect(paths.length).toBeGreaterThan(5);
    for (const path of paths) expect(existsSync(join(ROOT, workspace, path))).toBe(true);
  },
);
