import { SETTING_GROUPS } from "../../server/src/config/settings.ts";
import type { SettingFacts } from "../../server/src/lib/setting.ts";
import { renderTable } from "./markdown.ts";

const LINE_WIDTH = 119;

const groups = Object.entries(SETTING_GROUPS).map(
  ([heading, settings]) => [heading, Object.entries<SettingFacts>(settings)] as const,
);

/** Renders the tables of docs/configuration.md with their headings. */
export function renderSettings(): string {
  return groups
    .map(([heading, settings]) => {
      const rows = settings.map(([name, facts]) => [
        `\`${name}\``,
        describeDefault(facts),
        `${describeValue(facts)}${facts.secret ? ", *secret*" : ""}`,
        `\`${facts.example}\``,
        facts.description,
      ]);
      return `## ${heading}\n\n${renderTable(["Setting", "Default", "Value", "Example", "What it does"], rows)}`;
    })
    .join("\n");
}

/** Renders `.env.example`: every setting with its default, commented out. */
export function renderEnvExample(): string {
  const secrets = groups.flatMap(([, settings]) => settings.filter(([, { secret }]) => secret));
  const header = [
    "Every setting of Subtext, with its default. Copy this file to .env in the folder where Subtext is started, and remove the # from the settings that you change. Environment variables take precedence over this file. An unknown name is an error; docs/configuration.md has all settings in tables.",
    `Secrets can be read from files: DATABASE_URL_FILE=/run/secrets/database-url instead of DATABASE_URL. These are secrets: ${secrets.map(([name]) => name).join(", ")}.`,
    'Generated from server/src/config/settings.ts by "npm run docs:reference".',
  ];
  const sections = groups.map(([heading, settings]) => {
    const blocks = settings.map(([name, facts]) => {
      const { description, choices, derivedDefault, example } = facts;
      const details = [
        describeValue(facts),
        ...(choices ? [] : [`for example ${example}`]),
        ...(derivedDefault === undefined ? [] : [`default: ${derivedDefault}`]),
      ];
      const value = `(${plain(details.join("; "))})`;
      return `${comment(plain(description))}\n${comment(value)}\n#${name}=${facts.default ?? ""}\n`;
    });
    return `# ${`--- ${heading} `.padEnd(LINE_WIDTH - 2, "-")}\n\n${blocks.join("\n")}`;
  });
  return `${header.map(comment).join("\n#\n")}\n\n${sections.join("\n")}`;
}

function describeDefault({ default: value, derivedDefault }: SettingFacts): string {
  return value === null ? (derivedDefault ?? "none") : `\`${value}\``;
}

function describeValue({ value, choices, range }: SettingFacts): string {
  if (choices) return choices.map((choice) => `\`${choice}\``).join(", ");
  if (!range) return value ?? "";
  const [min, max] = range;
  const bounds = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} … ${max}`;
  return value === undefined ? bounds : `${value}, ${bounds}`;
}

/** Removes links, which point to pages of `docs`, and the backticks around single words. */
function plain(markdown: string): string {
  return markdown.replaceAll(/\[[^\]]*\]\(([^)#]*)[^)]*\)/g, "docs/$1").replaceAll(/`([^`\s]+)`/g, "$1");
}

function comment(text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && `# ${line} ${word}`.length > LINE_WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.map((line) => `# ${line}`).join("\n");
}
