import type { Command } from "commander";
import type { StoreReview } from "../admin/command-line-operations.ts";
import type { DeletionGroup } from "../cleanup/review-deletions.ts";
import { ask, type Terminal } from "./context.ts";
import { properties } from "./text.ts";

interface Outcome extends StoreReview {
  accepted: boolean;
}

export function addStorage(program: Command, terminal: Terminal): void {
  const group = program.command("storage").description("the store of recordings and transcripts");

  group
    .command("accept")
    .description(
      "show what would be deleted from a store that another or a newer database used; with --yes, resume deletions",
    )
    .option("--yes", "accept the store for this database, and resume deletions")
    .action(async ({ yes = false }: { yes?: boolean }, command: Command) => {
      await ask(
        terminal,
        command,
        async (client): Promise<Outcome> => {
          const review = await client.send("POST /storage-review");
          const accepted = yes && review.stopped !== null;
          if (accepted) await client.send("POST /storage-acceptance", { body: { token: review.token } });
          return { ...review, accepted };
        },
        describe,
      );
    });
}

function describe({ stopped, atOnce, later, accepted }: Outcome): string {
  if (stopped === null) return "The store belongs to this database: there is nothing to accept.";
  return properties([
    ["stopped because", stopped],
    ["deleted at once", summary(atOnce, "files of deleted videos and lost attempts")],
    ...names(atOnce),
    ["deleted in 7 days", summary(later, "files that this database does not know")],
    ...names(later),
    [
      "note",
      accepted
        ? "Accepted. The store belongs to this database now, and deletions are resumed."
        : "Nothing was changed. Stop any other service that uses these files, then run it again with --yes.",
    ],
  ]);
}

function summary({ files, bytes }: DeletionGroup, what: string): string {
  return files === 0 ? "nothing" : `${files} ${what}, ${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

function names({ files, keys }: DeletionGroup): [string, string][] {
  const listed = keys.map((key): [string, string] => ["", key]);
  return files > keys.length ? [...listed, ["", `and ${files - keys.length} more`]] : listed;
}
