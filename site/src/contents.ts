/** A group of the index page: a heading and the pages that it lists. */
export interface ContentsGroup {
  title: string;
  links: { title: string; name: string }[];
}

/** Reads the second-level headings of the index page, each with the links of the list below it. */
export function readContents(index: string): ContentsGroup[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.slice(0, section.indexOf("\n")).trim(),
      links: [...section.matchAll(/^- \[([^\]]+)\]\(([\w/-]+)\.md\)/gm)].map(([, title = "", name = ""]) => ({
        title,
        name,
      })),
    }));
}
