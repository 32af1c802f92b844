import { expect, test } from "vitest";
import { PUBLISHED_NAMES } from "../packaging/names.ts";
import { README_SOURCES, renderReadme } from "../packaging/readme.ts";

test.each(Object.keys(README_SOURCES))("the README of %s works outside the repository", (workspace) => {
  const readme = renderReadme(workspace);
  expect(readme).toContain(`npm install ${PUBLISHED_NAMES[workspace]}\n`);
  expect(readme).not.toContain("@subtext/");
  expect(readme).not.toContain("<!--");
  const links = [...readme.matchAll(/\]\(([^)]*)\)/g)].map(([, href]) => href);
  expect(links.filter((href) => !href?.startsWith("https://"))).toEqual([]);
});
