import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildPackage as buildClient } from "../client/build/build.ts";
import { copyDependencies } from "./dependencies.ts";
import { copyModules } from "./modules.ts";
import { PUBLISHED_NAMES } from "./names.ts";
import { renderReadme } from "./readme.ts";
import { bundleParts, PLATFORMS, writeManifest, writeRuntime } from "./speech-parts.ts";

const ROOT = join(import.meta.dirname, "..");
/** The oldest version that every dependency supports. */
export const OLDEST_NODE = "22.19";
const ENGINES = { node: `>=${OLDEST_NODE}` };

/** Dependencies of the server that npm installs from the registry, because the speech package needs them too. */
const NOT_BUNDLED = ["commander", "fs-native-extensions", "undici"];

interface Workspace {
  name: string;
  version: string;
  description: string;
  license: string;
  exports: Record<string, string>;
  bin?: Record<string, string>;
  dependencies: Record<string, string>;
}

/**
 * Empties `folder` and builds the tarballs for `npm publish` there. Tarballs that cannot be installed on this machine
 * are in `other-platforms/`.
 */
export function buildPackages(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const here = resolve(folder);
  const elsewhere = join(here, "other-platforms");
  mkdirSync(elsewhere, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), "subtext-packages-"));
  const compiled = join(work, "compiled");
  try {
    const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
    run(process.execPath, [compiler, "-p", import.meta.dirname, "--outDir", compiled], ROOT);
    run("npm", ["run", "--silent", "build", "-w", "@subtext/dashboard"], ROOT);
    run("npm", ["run", "--silent", "docs:build"], ROOT);

    writeClient(join(work, "client"));
    writePackage(join(work, "captions"), compiled, ["captions"]);
    writePackage(join(work, "speech"), compiled, ["speech"], bundleParts(join(work, "speech")));
    writePackage(
      join(work, "server"),
      compiled,
      ["server", "client"],
      bundleDependencies(join(work, "server")),
    );
    for (const name of ["dashboard/dist", "site/dist"]) {
      cpSync(join(ROOT, name), join(work, "server", name), { recursive: true });
    }
    for (const workspace of ["client", "captions", "speech", "server"]) pack(join(work, workspace), here);

    for (const platform of PLATFORMS) {
      writeRuntime(join(work, platform), platform);
      pack(join(work, platform), platform === `${process.platform}-${process.arch}` ? here : elsewhere);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Bundles the server's dependencies with its package, so users run the tested versions. */
function bundleDependencies(target: string) {
  const except = new Set([...NOT_BUNDLED, ...Object.keys(PUBLISHED_NAMES)]);
  const names = Object.keys({
    ...readWorkspace("server").dependencies,
    ...readWorkspace("client").dependencies,
  }).filter((name) => !except.has(name));
  copyDependencies(target, { from: join(ROOT, "server"), names, except });
  cpSync(
    join(import.meta.dirname, "licenses/pglite-notices.txt"),
    join(target, "node_modules/@electric-sql/pglite/THIRD-PARTY-NOTICES.txt"),
  );
  // The server is a program and exports no modules.
  return { bundleDependencies: names, exports: { "./package.json": "./package.json" } };
}

function writeClient(target: string): void {
  buildClient(target);
  const manifest = join(target, "package.json");
  const { name, ...rest } = JSON.parse(readFileSync(manifest, "utf8"));
  writeManifest(target, { name: PUBLISHED_NAMES[name], ...rest });
  writeFileSync(join(target, "README.md"), renderReadme(name));
}

/**
 * Writes the package of the first workspace, including the modules of the other workspaces.
 * @param more additional fields for `package.json`
 */
function writePackage(
  target: string,
  compiled: string,
  workspaces: readonly [string, ...string[]],
  more: {
    bundleDependencies?: string[];
    exports?: object;
    dependencies?: object;
    optionalDependencies?: object;
  } = {},
): void {
  const [main] = workspaces;
  const { name, version, description, license, exports, bin } = readWorkspace(main);
  copyModules(target, compiled, workspaces, { types: more.exports === undefined });
  // The commands read their version from these files.
  for (const workspace of workspaces) writeManifest(join(target, workspace), { version, type: "module" });
  const modules = Object.entries(exports).map(([subpath, source]) => {
    const path = `./${join(main, source).replace(/\.ts$/, "")}`;
    return [subpath, { types: `${path}.d.ts`, default: `${path}.js` }];
  });
  const commands = Object.entries(bin ?? {}).map(([command, file]) => [command, join(main, file)]);
  const dependencies = workspaces.flatMap((workspace) =>
    Object.entries(readWorkspace(workspace).dependencies)
      .filter(([dependency]) => !workspaces.some((each) => dependency === `@subtext/${each}`))
      .map(([dependency, range]) => [PUBLISHED_NAMES[dependency] ?? dependency, range]),
  );
  writeManifest(target, {
    name: PUBLISHED_NAMES[name],
    version,
    description,
    license,
    type: "module",
    engines: ENGINES,
    ...(bin && { bin: Object.fromEntries(commands) }),
    exports: { ...Object.fromEntries(modules), "./package.json": "./package.json" },
    ...more,
    dependencies: { ...Object.fromEntries(dependencies), ...more.dependencies },
  });
  writeFileSync(join(target, "README.md"), renderReadme(name));
  cpSync(join(ROOT, "LICENSE"), join(target, "LICENSE"));
}

function readWorkspace(workspace: string): Workspace {
  return JSON.parse(readFileSync(join(ROOT, workspace, "package.json"), "utf8"));
}

function pack(source: string, destination: string): void {
  // npm requires the repository's URL for provenance.
  const { REPOSITORY_URL } = process.env;
  if (REPOSITORY_URL)
    run("npm", ["pkg", "set", "repository.type=git", `repository.url=${REPOSITORY_URL}`], source);
  run("npm", ["pack", "--silent", "--pack-destination", destination], source);
}

function run(command: string, args: string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
}

if (import.meta.main) buildPackages(process.argv[2] ?? join(ROOT, "dist-packages"));
