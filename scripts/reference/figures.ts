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

/** Renders the key figures in the README, each next to a program that the same run measured. */
export function renderKeyFigures(): string {
  const speed = readFigures("speed");
  const idle = readFigures("idle");
  const reads = readFigures("reads");
  const hour = (column: string) => cell(speed, "From the completed upload", "1 h", column);
  const memory = (row: string) => cell(idle, "At rest", row, "memory, MiB");
  const perSecond = (column: string) =>
    Number(cell(reads, "GET transcription", "64", column)).toLocaleString("en");
  const rows = [
    [
      "one hour of speech, from the finished upload to the transcript",
      `${hour("elapsed time")}, ${hour("multiple of real time")} real time`,
      `ffmpeg, which only decodes it, is ${hour("relative to decoding by ffmpeg")} as fast`,
    ],
    [
      "memory of the idle service with its embedded database, which has smaller buffers",
      `${memory("the service")} MiB`,
      `PGlite alone, with its default settings: ${memory("a bare pglite process")} MiB`,
    ],
    [
      "reads of a transcription per second, 64 at a time, with batched queries",
      perSecond("service"),
      `a Fastify route with one SELECT per request: ${perSecond("bare route")}`,
    ],
  ];
  const runs = Map.groupBy([speed, idle, reads], describeCircumstances);
  const sources = [...runs].map(
    ([circumstances, figures]) =>
      `${circumstances} (${figures.map(({ command }) => `\`${command}\``).join(", ")})`,
  );
  return `${renderTable(["", "Subtext", "for comparison, in the same run"], rows)}\nMeasured on ${sources.join("; on ")}.\n`;
}

/** Renders all accuracy tables except those of real recordings, which are measured in a separate run. */
export function renderAccuracyFigures(): string {
  return renderFigures("accuracy", [
    "English, bundled engine",
    "Detected language, bundled engine",
    "English or not, bundled engine",
    "Whisper engine",
    "Detected language, Whisper engine",
  ]);
}

/** Renders the figures of the bundled engine, and of the Whisper engine with the tests' model. */
export function renderEngineFigures(): string {
  const accuracy = readFigures("accuracy");
  const bundled = (row: string, column: string) => cell(accuracy, "English, bundled engine", row, column);
  const whisper = (column: string) => cell(accuracy, "Whisper engine", "clean", column);
  const rows = [
    ["word error rate, clean synthetic speech", bundled("fresh voices, clean", "WER"), whisper("WER")],
    [
      "word starts, clean synthetic speech, p50 / p90",
      `${bundled("fresh voices, clean", "start median")} / ${bundled("fresh voices, clean", "start p90")}`,
      `${whisper("start median")} / ${whisper("start p90")}`,
    ],
  ];
  const table = renderTable(
    ["", "bundled engine, voices not used for tuning", "`whisper` with the tests' model"],
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
