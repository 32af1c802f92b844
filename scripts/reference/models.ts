import { KNOWN_MODELS } from "@subtext/speech/models/catalog";
import { renderTable } from "./markdown.ts";

/** Renders the models that can be installed by name. */
export function renderModels(): string {
  const rows = KNOWN_MODELS.map(({ name, languageCount, downloadBytes, memoryBytes, repository }) => [
    `\`${name}\``,
    String(languageCount),
    `${(downloadBytes / 1e6).toLocaleString("en")} MB`,
    `${(memoryBytes / 1e9).toFixed(1)} GB`,
    `\`${repository}\``,
  ]);
  return renderTable(["model", "languages", "download", "memory, roughly", "source"], rows);
}
