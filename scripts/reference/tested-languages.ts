import { PROSE } from "../../speech/test/support/prose.ts";
import { renderTable } from "./markdown.ts";

/** Renders a table of the languages in which the filters are tested with prose, by script. */
export function renderTestedLanguages(): string {
  const names = new Intl.DisplayNames("en", { type: "language" });
  const languages = Object.entries(PROSE).map(([code, { script }]) => ({
    script,
    name: `${names.of(code)} (\`${code}\`)`,
  }));
  const scripts = Map.groupBy(languages, ({ script }) => script);
  return renderTable(
    [`script (${scripts.size})`, `languages (${languages.length})`],
    [...scripts].map(([script, spoken]) => [script, spoken.map(({ name }) => name).join(", ")]),
  );
}
