import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { writePlainTypes } from "./plain-types.ts";

const ROOM = join(import.meta.dirname, "..");
/** Of the contract the SDK runs with this alone; the rest was read for its types. */
const KEPT_OF_CONTRACT = ["api-errors.js", "api-errors.d.ts"];

/**
 * Makes the folder that is published, `npm publish client/dist`: JavaScript, types, a `package.json` of its own.
 * Here the workspace is imported as its sources, which no published package may be.
 */
export function buildPackage(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
    "bin/tsc",
  );
  execFileSync(process.execPath, [compiler, "-p", ROOM, "--outDir", folder], { stdio: "inherit" });
  for (const name of readdirSync(join(folder, "contract"))) {
    if (!KEPT_OF_CONTRACT.includes(name)) rmSync(join(folder, "contract", name));
  }
  rmSync(join(folder, "types.js"));
  writeFileSync(join(folder, "types.d.ts"), writePlainTypes());
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".d.ts")) nameJavaScript(join(folder, name));
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(describePackage(), null, 2)}\n`);
  cpSync(join(ROOM, "README.md"), join(folder, "README.md"));
  cpSync(join(ROOM, "../LICENSE"), join(folder, "LICENSE"));
}

/** The compiler rewrites imports of `.ts` in JavaScript, and leaves them in declarations. */
function nameJavaScript(file: string): void {
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"'));
}

function describePackage(): object {
  const { name, version, description, license, keywords } = JSON.parse(
    readFileSync(join(ROOM, "package.json"), "utf8"),
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
    files: ["**/*.js", "**/*.d.ts"],
    engines: { node: ">=20.3" },
  };
}

if (import.meta.main) buildPackage(join(ROOM, "dist"));
