import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { MACHINE } from "./recordings.ts";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, "docs/figures");

/** The tables of one run of a benchmark. The documentation is generated from them. */
export interface Figures {
  command: string;
  /** ISO 8601 UTC. */
  startedAt: string;
  /** The measured commit; ends with `+` if files other than the documentation had uncommitted changes. */
  commit: string;
  machine: string;
  tables: FigureTable[];
}

export interface FigureTable {
  title: string;
  /** The first column names the rows. */
  head: string[];
  rows: string[][];
}

/**
 * @param file by default, the last saved run
 * @throws Error if the benchmark has no figures
 */
export function readFigures(name: string, file = join(FOLDER, `${name}.json`)): Figures {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** With `SAVE_FIGURES=NAME` in the environment, saves the tables of this run in `docs/figures/NAME.json`. */
export function saveFigures(table: FigureTable): void {
  const name = process.env.SAVE_FIGURES;
  if (name === undefined) return;
  const file = join(FOLDER, `${name}.json`);
  const startedAt = new Date(performance.timeOrigin).toISOString();
  const saved = existsSync(file) ? readFigures(name) : null;
  const figures = saved?.startedAt === startedAt ? saved : { ...describeRun(), startedAt, tables: [] };
  figures.tables.push(table);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);
}

function describeRun(): Pick<Figures, "command" | "commit" | "machine"> {
  const [, program = "", ...options] = process.argv;
  const git = (...args: string[]) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
  const isClean = git("status", "--porcelain", "--", ".", ":!docs") === "";
  return {
    command: ["node", relative(ROOT, program), ...options].join(" "),
    commit: `${git("rev-parse", "--short=10", "HEAD")}${isClean ? "" : "+"}`,
    machine: MACHINE,
  };
}
