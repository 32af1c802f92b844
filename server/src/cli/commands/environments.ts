import { type Command, InvalidArgumentError, Option } from "commander";
import { type EnvironmentView, MAX_COUNTED_DUE } from "../../admin/contract/environment.ts";
import { MAX_RETENTION_DAYS, MAX_WEIGHT, RETENTION_DELETES, type RetentionPolicy } from "../../db/enums.ts";
import { commandLine } from "../../lib/command-line.ts";
import { environmentParams, transcriptionSwitch } from "../arguments.ts";
import { runOnService, type Terminal } from "../context.ts";
import type { InternalClient } from "../internal-client.ts";
import { counted, onOff, properties, table, time } from "../text.ts";

type Switch = { transcription: "on" | "off" };
type Change = Partial<Switch> & {
  origins?: string;
  keep?: number | "forever";
  deletes: RetentionPolicy["deletes"];
  weight?: number;
  vocabulary?: string;
  yes?: boolean;
};

export function addEnvironments(program: Command, terminal: Terminal): void {
  const group = program
    .command("env")
    .description("manage environments: tenants with their own videos and keys");

  runOnService(
    group.command("list").description("list environments"),
    terminal,
    async (client) => (await client.send("GET /environments")).data,
    (environments) =>
      table(
        ["name", "id", "transcription", "created"],
        environments.map((each) => [each.name, each.id, onOff(each.aiTranscription), time(each.createdAt)]),
        `There are no environments yet. Create one: ${commandLine("env create <name>")}`,
      ),
  );

  runOnService(
    group
      .command("create <name>")
      .description("create an environment")
      .addOption(transcriptionSwitch().default("on")),
    terminal,
    (client, name: string, { transcription }: Switch) =>
      client.send("POST /environments", { body: { name, aiTranscription: transcription === "on" } }),
    describe,
  );

  runOnService(
    group
      .command("set <environment>")
      .description(
        "change AI Transcription (for videos that finish uploading from now on), allowed origins, retention, the weight or the vocabulary",
      )
      .addOption(transcriptionSwitch())
      .option(
        "--origins <list>",
        "origins of pages that may upload, https://app.example,…; * for any, none for no page",
      )
      .option(
        "--keep <days|forever>",
        "delete recordings or videos this many days after their transcription",
        parseKeep,
      )
      .addOption(
        new Option(
          "--deletes <what>",
          "what --keep deletes: only the recording, or the whole video with its transcript",
        )
          .choices(RETENTION_DELETES)
          .default("recording"),
      )
      .option(
        "--weight <number>",
        `weight when environments share the workers, 1 to ${MAX_WEIGHT}; 2 gets twice the share of 1, which new environments have`,
        parseWeight,
      )
      .option(
        "--vocabulary <list>",
        "names and terms that may be spoken, most important first: Subtext,Anna Weber,…; none for no terms",
      )
      .option("--yes", "set --keep even if videos will be deleted immediately")
      .hook("preAction", (command) => {
        const { transcription, origins, keep, weight, vocabulary } = command.opts<Change>();
        if ([transcription, origins, keep, weight, vocabulary].some((option) => option !== undefined)) return;
        command.error(
          "error: specify what to set: --transcription, --origins, --keep, --weight or --vocabulary",
          { code: "commander.nothingToSet" },
        );
      }),
    terminal,
    async (client, wanted: string, options: Change) => {
      const { transcription, origins, keep, deletes, weight, vocabulary, yes = false } = options;
      const params = await environmentParams(client, wanted);
      const retention = keep === "forever" || keep === undefined ? null : { days: keep, deletes };
      if (retention && !yes) await requireNoDeletions(client, params, retention);
      const body = {
        ...(keep !== undefined && { retention }),
        ...(transcription !== undefined && { aiTranscription: transcription === "on" }),
        ...(origins !== undefined && { allowedOrigins: parseOrigins(origins) }),
        ...(weight !== undefined && { weight }),
        ...(vocabulary !== undefined && { vocabulary: parseVocabulary(vocabulary) }),
      };
      return await client.send("PATCH /environments/:environment", { params, body });
    },
    describe,
  );
}

function parseKeep(text: string): number | "forever" {
  if (text === "forever") return text;
  const days = Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= MAX_RETENTION_DAYS) return days;
  throw new InvalidArgumentError(`Enter a whole number of days from 1 to ${MAX_RETENTION_DAYS}, or forever.`);
}

function parseWeight(text: string): number {
  const weight = Number(text);
  if (Number.isInteger(weight) && weight >= 1 && weight <= MAX_WEIGHT) return weight;
  throw new InvalidArgumentError(`Enter a whole number from 1 to ${MAX_WEIGHT}.`);
}

/** @throws Error if the policy would immediately delete recordings or videos */
async function requireNoDeletions(
  client: InternalClient,
  params: { environment: string },
  retention: RetentionPolicy,
): Promise<void> {
  const { deletes } = retention;
  const { videos } = await client.send("GET /environments/:environment/retention-effect", {
    params,
    query: retention,
  });
  if (videos === 0) return;
  const what = deletes === "recording" ? "The recordings of" : "All data of";
  const count = `${videos >= MAX_COUNTED_DUE ? "at least " : ""}${counted(videos, "video")}`;
  throw new Error(
    `${what} ${count} would be permanently deleted within minutes. Nothing was changed. To set the retention anyway, add --yes.`,
  );
}

function describe(environment: EnvironmentView): string {
  return properties([
    ["environment", environment.name],
    ["id", environment.id],
    ["transcription", onOff(environment.aiTranscription)],
    ["retention", describeRetention(environment.retention)],
    ["weight", String(environment.weight)],
    ["allowed origins", environment.allowedOrigins.join(", ") || "none"],
    ["vocabulary", environment.vocabulary.join(", ") || "none"],
  ]);
}

function describeRetention(retention: RetentionPolicy | null): string {
  if (!retention) return "forever";
  const { days, deletes } = retention;
  return `${deletes === "recording" ? "recordings" : "videos with their transcripts"} for ${counted(days, "day")}`;
}

function parseOrigins(list: string): string[] {
  return list === "none" ? [] : list.split(/[\s,]+/).filter(Boolean);
}

function parseVocabulary(list: string): string[] {
  if (list === "none") return [];
  return list
    .split(",")
    .map((term) => term.trim())
    .filter((term) => term !== "");
}
