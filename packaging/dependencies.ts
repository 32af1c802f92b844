import { cpSync, existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

interface Manifest {
  version: string;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  optionalDependencies?: Record<string, string>;
}

/**
 * Copies packages and their dependencies to the `node_modules` folder of `target`. Names are resolved from the folder
 * `from`. Omits optional dependencies, the packages in `except`, and files that are not used at run time.
 */
export function copyDependencies(
  target: string,
  { from, names, except }: { from: string; names: readonly string[]; except: ReadonlySet<string> },
): void {
  const waiting = names.map((name) => ({ name, from, to: target }));
  for (const { name, from, to } of waiting) {
    if (except.has(name)) continue;
    const source = findPackage(name, from);
    if (source === null) throw new Error(`${from} depends on ${name}, which is not installed`);
    const manifest = readPackage(source);
    const found = findPackage(name, to, target);
    if (found !== null && readPackage(found).version === manifest.version) continue;
    const copy = join(found === null ? target : to, "node_modules", name);
    cpSync(source, copy, { recursive: true, filter: isUsed });
    for (const dependency of requiredBy(manifest)) waiting.push({ name: dependency, from: source, to: copy });
  }
}

/** Builds for browsers, builds for `require` of packages that are only imported, and PGlite's unused extensions. */
const UNUSED = [
  /@electric-sql\/pglite\/dist\/.*(\.cjs|(?<!\/pg_trgm)\.tar\.gz)$/,
  // prom-client requires @opentelemetry/api.
  /@opentelemetry\/(?!api\/)[\w-]+\/dist\/.*\.cjs$/,
  /zod\/v[34]\/.*\.cjs$/,
  /luxon\/(src|build\/(amd|cjs-browser|global))$/,
];

/** Returns whether a file or folder of a package is a license or may be read at run time. */
function isUsed(path: string): boolean {
  const name = basename(path);
  if (/^(licen[cs]e|notice|copying)/i.test(name)) return true;
  if (UNUSED.some((pattern) => pattern.test(path))) return false;
  // `dist-es` contains the AWS SDK's modules for bundlers. Node.js loads `dist-cjs`.
  return !["node_modules", "test", "tests", "dist-es"].includes(name) && !/\.(map|md|[mc]?ts)$/.test(name);
}

/** Returns the folder to which Node.js resolves an import in `folder`. Does not search above `top`. */
function findPackage(name: string, folder: string, top = "/"): string | null {
  const candidate = join(folder, "node_modules", name);
  if (existsSync(join(candidate, "package.json"))) return candidate;
  return folder === top || folder === dirname(folder) ? null : findPackage(name, dirname(folder), top);
}

function readPackage(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function requiredBy(manifest: Manifest): string[] {
  const { dependencies, peerDependencies, peerDependenciesMeta, optionalDependencies } = manifest;
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional);
  return [...Object.keys(dependencies ?? {}), ...peers].filter((name) => !optionalDependencies?.[name]);
}
