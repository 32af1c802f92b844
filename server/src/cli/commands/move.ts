import { resolve } from "node:path";
import { openProgressBar, progressTerminal } from "@subtext/speech/cli/terminal";
import type { Command } from "commander";
import { commandLine } from "../../lib/command-line.ts";
import type { FileCount } from "../../move/copy-files.ts";
import type { MoveProgress, MoveResult } from "../../move/move.ts";
import type { Plan } from "../../move/plan.ts";
import type { MovePreview } from "../../move/preview.ts";
import { actAsOwner } from "../act-as-owner.ts";
import { configOf, print, type Terminal } from "../context.ts";
import { explainError } from "../open-service.ts";
import { counted, length, properties } from "../text.ts";

/** Interval of progress lines if there is no terminal to draw on. */
const LINE_INTERVAL_MS = 5_000;

interface Options {
  from?: string;
  dryRun?: boolean;
}

export function addMove(program: Command, terminal: Terminal): void {
  program
    .command("move")
    .description(
      "move the embedded database to DATABASE_URL and the files to the configured bucket; run it again to resume",
    )
    .option("--from <folder>", "the data folder of the current service; DATA_DIR by default")
    .option("--dry-run", "show what would be moved and how long it would take")
    .action(async ({ from, dryRun = false }: Options, command: Command) => {
      const config = configOf(terminal);
      const folder = from === undefined ? config.dataFolder : resolve(from);
      await actAsOwner(folder);
      const { planMove } = await import("../../move/plan.ts");
      const progress = openProgress(terminal);
      try {
        const plan = await planMove(folder, config);
        if (dryRun) {
          const { previewMove } = await import("../../move/preview.ts");
          print(terminal, command, await previewMove(plan, config), (preview) =>
            describePreview(plan, preview),
          );
        } else {
          const { moveData } = await import("../../move/move.ts");
          const result = await moveData(plan, config, progress);
          progress.end();
          print(terminal, command, result, () => describeResult(plan, result));
        }
      } catch (error) {
        throw explainError(error);
      } finally {
        progress.end();
      }
    });
}

function openProgress(terminal: Terminal): MoveProgress & { end(): void } {
  const screen = progressTerminal(terminal);
  const bar = screen && openProgressBar("Move", screen);
  let writtenAt = Number.NEGATIVE_INFINITY;
  const show = (text: string, share: number | null = null) => {
    if (bar) return bar.show({ share, text });
    if (performance.now() - writtenAt < LINE_INTERVAL_MS) return;
    writtenAt = performance.now();
    terminal.err(`${text}\n`);
  };
  return {
    onFiles: (done) => show(`Files: ${count(done)}`),
    onTable: (name, done, total) => show(`Tables: ${done} of ${total}, ${name}`, done / total),
    end: () => bar?.erase(),
  };
}

function describePreview({ from, places }: Plan, { files, database, isRunning }: MovePreview): string {
  return properties([
    ["from", from],
    ["database", database && `${mebibytes(database.bytes)} → PostgreSQL at ${places.database}`],
    ["files", files && `${count(files)} → the bucket ${places.bucket}`],
    [
      "to copy",
      files &&
        `${count(files.remaining)}, in about ${length(files.seconds)}, during which the service may run`,
    ],
    ["downtime", database && `about ${length(database.seconds)} for the database`],
    [
      "next",
      isRunning && !files ? `Stop the service, then run: ${commandLine("move")}` : commandLine("move"),
    ],
  ]);
}

function describeResult(
  { from, places, bucket, databaseUrl }: Plan,
  { isFinished, files, tables }: MoveResult,
): string {
  const copied = files && `${count(files)} → the bucket ${places.bucket}; all were verified`;
  if (!isFinished) {
    return properties([
      ["files", copied],
      [
        "next",
        `Stop the service, then run \`${commandLine("move")}\` again. It copies new files and completes the move.`,
      ],
    ]);
  }
  const rows = tables?.reduce((sum, table) => sum + table.rows, 0) ?? 0;
  const left = [databaseUrl !== null && "database", ...(bucket ? ["uploads", "files"] : [])].filter(Boolean);
  return properties([
    [
      "database",
      tables &&
        `${counted(tables.length, "table")}, ${counted(rows, "row")} → PostgreSQL at ${places.database}; counts and checksums match`,
    ],
    ["files", copied],
    ["next", `Start the service with these settings: ${commandLine("serve")}`],
    ["later", `Remove ${left.join(", ")} from ${from} when you are sure that the service works.`],
  ]);
}

function count({ files, bytes }: FileCount): string {
  return `${counted(files, "file")}, ${mebibytes(bytes)}`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
