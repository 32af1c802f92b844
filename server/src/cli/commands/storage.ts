import type { Command } from "commander";
import type { StoreReview } from "../../admin/command-line-operations.ts";
import type { DeletionGroup } from "../../cleanup/review-deletions.ts";
import { BUCKET_SETTING, createBucket, openObjectStore } from "../../storage/backends.ts";
import { configOf, print, runOnService, type Terminal } from "../context.ts";
import { explainError } from "../open-service.ts";
import { counted, properties } from "../text.ts";

interface Outcome extends StoreReview {
  accepted: boolean;
}

export function addStorage(program: Command, terminal: Terminal): void {
  const group = program.command("storage").description("manage the store of recordings and transcripts");

  runOnService(
    group
      .command("accept")
      .description(
        "show why deletions are stopped and what resuming them would delete; with --yes, resume them",
      )
      .option("--yes", "accept the store for this database, and resume deletions"),
    terminal,
    async (client, { yes = false }: { yes?: boolean }): Promise<Outcome> => {
      const review = await client.send("POST /storage-review");
      const accepted = yes && review.stopped !== null;
      if (accepted) await client.send("POST /storage-acceptance", { body: { token: review.token } });
      return { ...review, accepted };
    },
    describe,
  );

  group
    .command("create-bucket")
    .description(`create ${BUCKET_SETTING} if it does not exist, and check access to it`)
    .action(async (_options: object, command: Command) => {
      const { bucket } = configOf(terminal);
      if (bucket === null)
        throw new Error(`Set ${BUCKET_SETTING} and the other settings of the bucket first.`);
      const objects = await openObjectStore(bucket);
      try {
        await createBucket(bucket);
        await objects.assertAvailable();
      } catch (error) {
        throw explainError(error);
      } finally {
        objects.close();
      }
      const done = `The bucket ${bucket.name} exists, and files can be written and read there.`;
      print(terminal, command, { bucket: bucket.name }, () => done);
    });
}

function describe({ stopped, atOnce, later, accepted }: Outcome): string {
  if (stopped === null) return "The store belongs to this database, so there is nothing to accept.";
  return properties([
    ["stopped because", stopped],
    ["deleted immediately", summary(atOnce, "of deleted videos, lost attempts and replaced corrections")],
    ...keyRows(atOnce),
    ["deleted in 7 days", summary(later, "that this database has no record of")],
    ...keyRows(later),
    [
      "note",
      accepted
        ? "Accepted. The store now belongs to this database, and deletions have resumed."
        : "Nothing was changed. Stop any other service that uses these files, then run this command again with --yes.",
    ],
  ]);
}

function summary({ files, bytes }: DeletionGroup, what: string): string {
  return files === 0 ? "nothing" : `${counted(files, "file")} ${what}, ${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

function keyRows({ files, keys }: DeletionGroup): [string, string][] {
  const listed = keys.map((key): [string, string] => ["", key]);
  return files > keys.length ? [...listed, ["", `and ${files - keys.length} more`]] : listed;
}
