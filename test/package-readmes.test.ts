import { expect, test } from "vitest";
import { PUBLISHED_NAMES } from "../packaging/names.ts";
import { README_SOURCES, renderReadme } from "../packaging/readme.ts";

test.each(Object.keys(README_SOURCES))("the README of %s works outside the repository", (workspace) => {
  const readme = renderReadme(workspace);
  expect(readme).toMatch(new RegExp(`^npm install (--global )?${PUBLISHED_NAMES[workspace]}$`, "m"));
  expect(readme).not.toContain("@subtext/");
  expect(readme).not.toContain("<!--");
  expect(readme).not.toMatch(/not published|\bclone of Subtext/);
  const links = [...readme.matchAll(/\]\(([^)]*)\)/g)].map(([, href]) => href);
  expect(links.filter((href) => !href?.startsWith("https://"))).toEqual([]);
});
