import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderCapacity, renderCosts } from "./reference/capacity.ts";
import { renderCommandLine } from "./reference/command-line.ts";
import { renderErrors, renderFailures } from "./reference/errors.ts";
import {
  renderAccuracyFigures,
  renderEngineFigures,
  renderFigures,
  renderKeyFigures,
  renderSilenceFigures,
} from "./reference/figures.ts";
import { renderProcessMetrics, renderStateMetrics, renderWorkMetrics } from "./reference/metrics.ts";
import { renderMeasuredModels, renderModelFigures } from "./reference/model-figures.ts";
import { renderModels } from "./reference/models.ts";
import { renderEnvExample, renderSettings } from "./reference/settings.ts";
import { renderTestedLanguages } from "./reference/tested-languages.ts";

const ROOT = join(import.meta.dirname, "..");

/** Files that are generated as a whole. */
const FILES: Record<string, () => string> = {
  ".env.example": renderEnvExample,
  "docs/cli.md": renderCommandLine,
  "speech/src/models/model-figures.ts": renderModelFigures,
};

/** Sections of pages, between `<!-- generated: NAME -->` and `<!-- end of generated -->`. */
const PARTS: Record<string, Record<string, () => string>> = {
  "README.md": { figures: renderKeyFigures },
  "docs/accuracy.md": { recordings: () => renderFigures("recordings"), accuracy: renderAccuracyFigures },
  "docs/configuration.md": { settings: renderSettings },
  "docs/corrections.md": { typing: () => renderFigures("typing") },
  "docs/deploy.md": { idle: () => renderFigures("idle", ["At rest"]) },
  "docs/engines.md": {
    engines: renderEngineFigures,
    silence: renderSilenceFigures,
    speed: () => renderFigures("speed", ["From the completed upload"]),
    languages: renderTestedLanguages,
  },
  "docs/errors.md": { errors: renderErrors, failures: renderFailures },
  "docs/metrics.md": { state: renderStateMetrics, work: renderWorkMetrics, process: renderProcessMetrics },
  "docs/models.md": { models: renderModels, measured: renderMeasuredModels },
  "docs/scaling.md": {
    costs: renderCosts,
    capacity: renderCapacity,
    backlog: () => renderFigures("backlog"),
    yielding: () => renderFigures("yielding"),
  },
};

/** Returns the expected content of generated files and pages, keyed by path from the repository root. */
export function renderReference(): Map<string, string> {
  const texts = Object.entries(FILES).map(([path, render]) => [path, render()] as const);
  const pages = Object.entries(PARTS).map(([path, parts]) => {
    const text = Object.entries(parts).reduce(
      (page, [name, render]) => replacePart(page, name, render()),
      readFileSync(join(ROOT, path), "utf8"),
    );
    return [path, text] as const;
  });
  return new Map([...texts, ...pages]);
}

function replacePart(page: string, name: string, text: string): string {
  const begin = `<!-- generated: ${name} -->\n\n`;
  const end = "\n<!-- end of generated -->\n";
  const [before, after, ...others] = page.split(begin);
  const rest = after?.split(end) ?? [];
  if (rest.length < 2 || others.length > 0)
    throw new Error(`A page must have exactly one section "${name}".`);
  return [before, begin, text, end, rest.slice(1).join(end)].join("");
}

if (import.meta.main) {
  for (const [path, text] of renderReference()) writeFileSync(join(ROOT, path), text);
}
