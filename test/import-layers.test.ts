import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";

/** The other workspaces, or folders and files in them, that each workspace may import. */
const WORKSPACES: Record<string, string[]> = {
  demo: ["server", "captions", "client"],
  "test/faults": ["bench", "server", "captions", "client"],
  bench: ["server", "speech", "captions", "client"],
  dashboard: ["server/src/admin/contract", "server/src/db/enums.ts", "captions", "client"],
  server: ["client", "speech", "captions"],
  client: [],
  speech: [],
  captions: [],
};

/** The folders and files of `server/src`, top to bottom. Each may import those after it. */
const SERVER_LAYERS = [
  "cli.ts",
  "cli",
  "main.ts",
  "start-work.ts",
  "open-apps.ts",
  "admin",
  "api",
  "telemetry",
  "health",
  "cleanup",
  "move",
  "backup",
  "operators",
  "bulk-operations",
  "uploads",
  "videos",
  "corrections",
  "transcription",
  "search",
  "posters",
  "webhooks",
  "resources",
  "api-keys",
  "http",
  "audit",
  "environments",
  "speech",
  "config",
  "queue",
  "storage",
  "admin/contract",
  "db",
  "lib",
];

/** The same for the `src` of other workspaces. */
const LAYERS = {
  dashboard: ["main.tsx", "router.tsx", "shell", "features", "ui", "hooks", "admin-client", "messages"],
  speech: [
    "cli",
    "processes",
    "transcribe.ts",
    "checkpoints",
    "recognition",
    "language",
    "decode-utterances.ts",
    "waveform.ts",
    "engines",
    "vad",
    "alignment",
    "onnx",
    "channels",
    "media",
    "models",
    "lib",
    "transcript.ts",
    "errors.ts",
  ],
};

/** The only files that a feature may import from other features. */
const SHARED_BY_FEATURES: Record<string, string[]> = {
  // The video list starts uploads, which continue on every page.
  "video-list": ["uploads/use-uploads.ts"],
  // The audit log names the permissions of keys.
  audit: ["api-keys/permissions.ts"],
};

const root = resolve(import.meta.dirname, "..");

describe("imports", () => {
  const imports = Object.keys(WORKSPACES).flatMap((workspace) =>
    sourceFiles(join(root, workspace, "src")).flatMap(readImports),
  );

  test("there are imports to check", () => {
    expect(imports.length).toBeGreaterThan(100);
  });

  test("go from a workspace only to the workspaces that it may import", () => {
    const upwards = imports.filter(({ from, to }) => {
      const target = findWorkspace(to);
      if (target === null || target === findWorkspace(from)) return false;
      return !WORKSPACES[findWorkspace(from) ?? ""]?.some(
        (allowed) => to === allowed || to.startsWith(`${allowed}/`),
      );
    });
    expect(upwards).toEqual([]);
  });

  test("go from a layer of the server only to the layers below it", () => {
    const upwards = imports.filter(({ from, to }) => {
      if (!from.startsWith("server/src/") || !to.startsWith("server/src/")) return false;
      const [source, target] = [findLayer(from), findLayer(to)];
      return source === -1 || target === -1 || target < source;
    });
    const lines = upwards.map(({ from, to }) => `${from} > ${to}`.replaceAll("server/src/", ""));
    expect(lines).toEqual([]);
  });

  test.each(Object.entries(LAYERS))(
    "go from a layer of %s only to the layers below it",
    (workspace, layers) => {
      const layer = (path: string) => layers.indexOf(path.split("/")[2] ?? "");
      const inside = imports.filter(
        ({ from, to }) => from.startsWith(`${workspace}/src/`) && to.startsWith(`${workspace}/src/`),
      );
      expect(inside.length).toBeGreaterThan(100);
      expect(inside.filter(({ from }) => layer(from) === -1)).toEqual([]);
      expect(inside.filter(({ from, to }) => layer(to) < layer(from))).toEqual([]);
    },
  );

  test("go from a feature of the dashboard to another feature only if they are listed here", () => {
    const feature = (path: string) => /^dashboard\/src\/features\/([^/]+)\/(.+)$/.exec(path);
    const foreign = imports.filter(({ from, to }) => {
      const [source, target] = [feature(from)?.[1], feature(to)];
      if (!source || !target || source === target[1]) return false;
      return !SHARED_BY_FEATURES[source]?.includes(`${target[1]}/${target[2]}`);
    });
    expect(foreign).toEqual([]);
  });

  test("do not go from one engine to another", () => {
    const engine = (path: string) => /^speech\/src\/engines\/([^/]+)\//.exec(path)?.[1];
    const foreign = imports.filter(
      ({ from, to }) => engine(from) !== undefined && engine(to) !== undefined && engine(from) !== engine(to),
    );
    expect(foreign).toEqual([]);
  });

  test("do not form cycles", () => {
    // German messages take only their types from the English ones.
    const isTypeOnly = ({ from, to }: { from: string; to: string }) =>
      from.startsWith("dashboard/src/messages/de/") && to.startsWith("dashboard/src/messages/en/");
    const targets = Map.groupBy(
      imports.filter((each) => !isTypeOnly(each)),
      ({ from }) => from,
    );
    const done = new Set<string>();
    const visit = (file: string, path: string[]): string[] => {
      if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(" > ")];
      if (done.has(file)) return [];
      const cycles = (targets.get(file) ?? []).flatMap(({ to }) => visit(to, [...path, file]));
      done.add(file);
      return cycles;
    };
    expect([...targets.keys()].flatMap((file) => visit(file, []))).toEqual([]);
  });
});

/** Returns the index of the longest matching prefix in `SERVER_LAYERS`, or -1. */
function findLayer(path: string): number {
  const matching = SERVER_LAYERS.filter((layer) => `${path}/`.startsWith(`server/src/${layer}/`));
  return SERVER_LAYERS.indexOf(matching.toSorted((a, b) => b.length - a.length)[0] ?? "");
}

function findWorkspace(path: string): string | null {
  return Object.keys(WORKSPACES).find((workspace) => path.startsWith(`${workspace}/`)) ?? null;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

/** Returns paths from the repository root. External packages are omitted. */
function readImports(file: string): { from: string; to: string }[] {
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
