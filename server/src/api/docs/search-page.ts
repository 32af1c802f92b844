import { escapeHtml } from "./html.ts";
import type { SearchHit } from "./search.ts";

export function renderHits(question: string, hits: SearchHit[]): string {
  if (question.trim() === "") {
    return `<h1>Search</h1>\n<p>Ask for a word, an error's code, a setting or a command.</p>`;
  }
  const count = hits.length === 1 ? "1 passage" : `${hits.length} passages`;
  return `<h1>Search</h1>
<p>${hits.length === 0 ? "Nothing was found for" : `${count} found for`} <strong>${escapeHtml(question)}</strong>.</p>
<ol class="hits">
${hits.map(renderHit).join("\n")}
</ol>`;
}

function renderHit({ href, page, heading, excerpt }: SearchHit): string {
  const shown = excerpt
    .map((piece, place) => (place % 2 === 1 ? `<mark>${escapeHtml(piece)}</mark>` : escapeHtml(piece)))
    .join("");
  const where = heading === page ? "" : `<span class="type">${escapeHtml(page)}</span>`;
  return `<li><a href="${escapeHtml(href)}">${escapeHtml(heading)}</a> ${where}<p>${shown}</p></li>`;
}
