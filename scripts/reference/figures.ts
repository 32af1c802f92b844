import { type Figures, type FigureTable, readFigures } from "../../bench/src/figures.ts";
import { renderTable } from "./markdown.ts";

/** Renders the tables of a benchmark's last saved run, and how they were measured. */
export function renderFigures(name: string, titles?: readonly string[]): string {
  const figures = readFigures(name);
  const tables = titles ? titles.map((title) => findTable(figures, title)) : figures.tables;
  return `${describeRun(figures)}\n\n${tables
    .map(({ title, head, rows }) => `**${title}**\n\n${renderTable(head, rows)}`)
    .join("\n")}`;
}

/** Renders the key figures in the README, each next to a baseline. */
export function renderKeyFigures(): string {
  const speed = readFigures("speed");
  const idle = readFigures("idle");
  const reads = readFigures("reads");
  const accuracy = readFigures("accuracy");
  const hour = (column: string) => cell(speed, "From the completed upload", "1 h", column);
  const memory = (row: string) => cell(idle, "At rest", row, "memory, MiB");
  const perSecond = (column: string) =>
    Number(cell(reads, "GET transcription", "64", column)).toLocaleString("en");
  const word = (column: string) => cell(accuracy, "English, bundled engine", "all", column);
  const [minutes = "", , words = ""] = findTable(accuracy, "Audio without speech").rows.at(-1) ?? [];
  const rows = [
    [
      "one hour of speech, from the finished upload to COMPLETED",
      `${hour("took")}, ${hour("real time")} real time`,
      `${hour("ffmpeg decoding alone")} as long as ffmpeg decodes it`,
    ],
    [
      "the idle service with the embedded database",
      `${memory("the service")} MiB`,
      `${memory("a bare pglite process")} MiB for PGlite without a service`,
    ],
    [
      "reads of a transcription per second, 64 at a time",
      perSecond("service"),
      `${perSecond("bare route")} from a bare route with one SELECT, because reads share queries`,
    ],
    [
      "start of a word, synthetic speech, three quarters of it with noise or music",
      `${word("start median")} off (p50), ${word("start p90")} (p90)`,
      "careful annotators differ by about 20 ms",
    ],
    ["hallucinated words without speech", `${words} in ${minutes.replace("all ", "")}`, ""],
  ];
  const runs = Map.groupBy([speed, idle, reads, accuracy], describeCircumstances);
  const sources = [...runs].map(
    ([circumstances, figures]) =>
      `- ${circumstances}: ${figures.map(({ command }) => `\`${command}\``).join(", ")}\n`,
  );
  return `${renderTable(["", "Subtext", "for comparison"], rows)}\nMeasured with these benchmarks:\n\n${sources.join("")}`;
}

/** Renders the figures of the bundled engine, and of the Whisper engine with the tests' model. */
export function renderEngineFigures(): string {
  const accuracy = readFigures("accuracy");
  const bundled = (row: string, column: string) => cell(accuracy, "English, bundled engine", row, column);
  const whisper = (column: string) => cell(accuracy, "Whisper engine", "clean", column);
  const rows = [
    ["word error rate, clean synthetic speech", bundled("fresh voices, clean", "WER"), whisper("WER")],
    [
      "word starts, p50 / p90",
      `${bundled("all", "start median")} / ${bundled("all", "start p90")}`,
      `${whisper("start median")} / ${whisper("start p90")}`,
    ],
  ];
  const table = renderTable(
    ["", "bundled, voices that nothing was tuned on", "`whisper` with the tests' model"],
    rows,
  );
  return `${describeRun(accuracy)}\n\n${table}`;
}

/** Renders only processor times, because elapsed times depend on other work of the machine. */
export function renderSilenceFigures(): string {
  const figures = readFigures("silence");
  const { title, head, rows } = findTable(figures, "Recordings without speech");
  const first = head.indexOf("processor time");
  const columns = (row: readonly string[]) => [row[0] ?? "", ...row.slice(first)];
  return `${describeRun(figures)}\n\n**${title}**\n\n${renderTable(columns(head), rows.map(columns))}`;
}

function describeRun(figures: Figures): string {
  return `Measured with \`${figures.command}\`: ${describeCircumstances(figures)}.`;
}

function describeCircumstances({ startedAt, machine, commit }: Figures): string {
  const date = new Date(startedAt).toLocaleDateString("en-US", { dateStyle: "long", timeZone: "UTC" });
  return `${date}, ${machine}, commit \`${commit}\``;
}

/** @param title beginning of the table's title */
function findTable({ command, tables }: Figures, title: string): FigureTable {
  const found = tables.find((table) => table.title.startsWith(title));
  if (!found) throw new Error(`The saved run of ${command} has no table "${title}".`);
  return found;
}

function cell(figures: Figures, title: string, row: string, column: string): string {
  const { head, rows } = findTable(figures, title);
  const found = rows.find(([name]) => name?.trim() === row || name?.startsWith(`${row} (`));
  const text = found?.[head.indexOf(column)];
  if (text === undefined) throw new Error(`The table "${title}" has no ${column} of "${row}".`);
  return text;
}
