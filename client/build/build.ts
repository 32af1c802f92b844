import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { writePlainTypes } from "./plain-types.ts";

const CLIENT = join(import.meta.dirname, "..");
/** The contract files that the SDK needs at run time. The others only provide types. */
const CONTRACT_FILES = ["api-errors", "routes"].flatMap((name) => [
  `${name}.js`,
  `${name}.js.map`,
  `${name}.d.ts`,
]);

/** Builds the package in `folder`: JavaScript, types and a separate `package.json`. `npm run package` adds its README. */
export function buildPackage(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
    "bin/tsc",
  );
  execFileSync(process.execPath, [compiler, "-p", CLIENT, "--outDir", folder], { stdio: "inherit" });
  for (const name of readdirSync(join(folder, "contract"))) {
    if (!CONTRACT_FILES.includes(name)) rmSync(join(folder, "contract", name));
  }
  for (const name of ["types.js", "types.js.map"]) rmSync(join(folder, name));
  writeFileSync(join(folder, "types.d.ts"), writePlainTypes());
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".d.ts")) rewriteImports(join(folder, name));
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(describePackage(), null, 2)}\n`);
  cpSync(join(CLIENT, "README.md"), join(folder, "README.md"));
  cpSync(join(CLIENT, "../LICENSE"), join(folder, "LICENSE"));
}

/** The compiler rewrites `.ts` imports in JavaScript but not in declaration files. */
function rewriteImports(file: string): void {
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"'));
}

function describePackage(): object {
  const { name, version, description, license, keywords } = JSON.parse(
    readFileSync(join(CLIENT, "package.json"), "utf8"),
  );
  return {
    name,
    version,
    description,
    keywords,
    license,
    type: "module",
    sideEffects: false,
    exports: { ".": { types: "./index.d.ts", default: "./index.js" }, "./package.json": "./package.json" },
    types: "./index.d.ts",
    files: ["**/*.js", "**/*.js.map", "**/*.d.ts"],
    engines: { node: ">=20.3" },
  };
}

if (import.meta.main) buildPackage(join(CLIENT, "dist"));
