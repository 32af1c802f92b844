import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PUBLISHED_NAMES } from "./names.ts";

const ROOT = join(import.meta.dirname, "..");

/** The document that becomes the README of each published package. */
export const README_SOURCES: Readonly<Record<string, string>> = {
  "@subtext/server": "server/README.md",
  "@subtext/client": "docs/client.md",
  "@subtext/captions": "captions/README.md",
  "@subtext/speech": "speech/README.md",
};

/**
 * Returns the README of a published package: with published names, without links to files of the repository,
 * and without comments and sections that apply only before the first release.
 */
export function renderReadme(workspace: string): string {
  const source = README_SOURCES[workspace];
  if (source === undefined) throw new Error(`${workspace} has no README`);
  return readFileSync(join(ROOT, source), "utf8")
    .replaceAll(
      /^<!-- before the first release -->\n[\s\S]*?^<!-- end of before the first release -->\n\n?/gm,
      "",
    )
    .replaceAll(/^<!-- .* -->\n/gm, "")
    .replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, "$1")
    .replaceAll(/@subtext\/\w+/g, (name) => PUBLISHED_NAMES[name] ?? name);
}
