import { KNOWN_MODELS } from "@subtext/speech/models/catalog";
import { additionalBytes } from "@subtext/speech/processes/memory";
import { SETTINGS } from "../../server/src/config/settings.ts";
import { renderTable } from "./markdown.ts";

const THREADS = 2;

/** Renders the models that can be installed by name. */
export function renderModels(): string {
  const limitBytes = Number(SETTINGS.SPEECH_MEMORY_LIMIT_MB.default) * 1024 ** 2;
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
  const rows = KNOWN_MODELS.map(({ name, languageCount, downloadBytes, memoryBytes, repository }) => [
    `\`${name}\``,
    String(languageCount),
    `${(downloadBytes / 1e6).toLocaleString("en")} MB`,
    gigabytes(memoryBytes),
    gigabytes(limitBytes + additionalBytes(THREADS, downloadBytes)),
    `\`${repository}\``,
  ]);
  return renderTable(
    ["model", "languages", "download", "memory, roughly", `memory limit, ${THREADS} threads`, "source"],
    rows,
  );
}
