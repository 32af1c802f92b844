import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { PUBLISHED_NAMES } from "./names.ts";

const ROOT = join(import.meta.dirname, "..");

/**
 * Copies the compiled modules of the workspaces and the files that they read at run time to a package. The folder
 * structure stays the same. Imports between these workspaces become relative.
 */
export function copyModules(
  target: string,
  compiled: string,
  workspaces: readonly string[],
  { types }: { types: boolean },
): void {
  for (const workspace of workspaces) {
    cpSync(join(compiled, workspace), join(target, workspace), {
      recursive: true,
      filter: (path) => types || !path.endsWith(".d.ts"),
    });
    for (const folder of ["src", "bin"]) {
      const source = join(ROOT, workspace, folder);
      if (!existsSync(source)) continue;
      cpSync(source, join(target, workspace, folder), {
        recursive: true,
        filter: (path) => !path.endsWith(".ts"),
      });
    }
  }
  const names = workspaces.flatMap((workspace) =>
    readdirSync(join(target, workspace), { recursive: true, encoding: "utf8" }).map((name) =>
      join(workspace, name),
    ),
  );
  for (const name of names) {
    if (/\.(js|d\.ts)$/.test(name)) rewriteModule(target, name, workspaces);
  }
}

/** Replaces the names of TypeScript files (in imports and in URLs of child processes) and imports of other workspaces. */
function rewriteModule(target: string, name: string, workspaces: readonly string[]): void {
  const file = join(target, name);
  const text = readFileSync(file, "utf8")
    .replaceAll(/"([\w./-]+)\.ts"/g, (literal, path: string) =>
      existsSync(join(dirname(file), `${path}.js`)) ? `"${path}.js"` : literal,
    )
    .replaceAll(
      /"(@subtext\/(\w+))(?:\/([\w./-]+))?"/g,
      (_, workspace: string, folder: string, path?: string) => {
        if (!workspaces.includes(folder))
          return `"${[PUBLISHED_NAMES[workspace], path].filter(Boolean).join("/")}"`;
        const module = relative(dirname(name), join(folder, "src", `${path ?? "index"}.js`));
        return `"${module.startsWith(".") ? module : `./${module}`}"`;
      },
    );
  writeFileSync(file, text);
}
