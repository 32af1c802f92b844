import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";

/** A room may import itself and what stands behind it here; the order is the floors, top to bottom. */
const ROOMS: Record<string, string[]> = {
  demo: ["server", "captions", "client"],
  bench: ["server", "speech", "captions", "client"],
  server: ["dashboard", "client", "speech", "captions"],
  dashboard: ["client"],
  client: [],
  speech: [],
  captions: [],
};

/** The same inside the server: the folders and files of `server/src`, and what each may import. */
const SERVER_ROOMS: Record<string, string[]> = {
  "cli.ts": ["*"],
  cli: ["*"],
  "main.ts": ["*"],
  "work.ts": ["pipeline", "webhooks", "models.ts", "outages.ts", "queue.ts"],
  http: ["*", "!main.ts", "!work.ts", "!cli", "!cli.ts"],
  pipeline: [
    "webhooks",
    "storage",
    "db",
    "search",
    "queue.ts",
    "clock.ts",
    "errors.ts",
    "ids.ts",
    "outages.ts",
  ],
  webhooks: [
    "audit",
    "storage",
    "db",
    "queue.ts",
    "together.ts",
    "representations.ts",
    "clock.ts",
    "errors.ts",
    "ids.ts",
    "limits.ts",
    "metadata.ts",
  ],
  audit: ["db", "clock.ts", "ids.ts"],
  "representations.ts": ["storage", "db"],
  search: ["db"],
  // Open what the settings name.
  "storage/open-stores.ts": ["db", "config.ts", "errors.ts", "folder-lock.ts", "outage-watch.ts"],
  "storage/open-bucket-stores.ts": ["errors.ts", "folder-lock.ts"],
  storage: ["db", "errors.ts", "fair-queue.ts", "ids.ts", "clock.ts", "outage-watch.ts"],
  db: ["clock.ts", "errors.ts", "folder-lock.ts", "outage-watch.ts"],
};

const root = resolve(import.meta.dirname, "..");

describe("imports", () => {
  const imports = Object.keys(ROOMS).flatMap((room) =>
    sourceFiles(join(root, room, "src")).flatMap(importsOf),
  );

  test("there are imports to judge", () => {
    expect(imports.length).toBeGreaterThan(100);
  });

  test("go from a room only to the rooms below it", () => {
    const upwards = imports.filter(({ from, to }) => {
      const target = roomOf(to);
      return target !== null && target !== roomOf(from) && !ROOMS[roomOf(from) ?? ""]?.includes(target);
    });
    expect(upwards).toEqual([]);
  });

  test("go from a part of the server only to the parts below it", () => {
    const upwards = imports.filter(({ from, to }) => {
      if (!from.startsWith("server/src/") || !to.startsWith("server/src/")) return false;
      const source = from.slice("server/src/".length);
      const target = to.slice("server/src/".length);
      const sourcePart = source.split("/")[0] ?? "";
      if (target.split("/")[0] === sourcePart) return false;
      const allowed = SERVER_ROOMS[source] ?? SERVER_ROOMS[sourcePart];
      return allowed !== undefined && !permits(allowed, target);
    });
    expect(upwards).toEqual([]);
  });
});

function permits(allowed: string[], target: string): boolean {
  const covers = (rule: string) => rule === target || target.startsWith(`${rule}/`);
  if (allowed.some((rule) => rule.startsWith("!") && covers(rule.slice(1)))) return false;
  return allowed.includes("*") || allowed.some(covers);
}

function roomOf(path: string): string | null {
  const room = path.split("/")[0] ?? "";
  return room in ROOMS ? room : null;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

/** Paths from the repository's root; packages from outside are left out. */
function importsOf(file: string): { from: string; to: string }[] {
  const from = relative(root, file);
  const specifiers = [...readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map(
    ([, s]) => s ?? "",
  );
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith(".")) return { from, to: relative(root, resolve(dirname(file), specifier)) };
    const workspace = /^@subtext\/([^/]+)\/(.+)$/.exec(specifier);
    return workspace ? { from, to: `${workspace[1]}/src/${workspace[2]}.ts` } : [];
  });
}
