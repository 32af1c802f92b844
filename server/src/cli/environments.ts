import type { EnvironmentView } from "@subtext/dashboard/contract/environment";
import type { Command } from "commander";
import { chooseEnvironment, transcriptionSwitch } from "./arguments.ts";
import { ask, type Terminal } from "./context.ts";
import { onOff, properties, table, time } from "./text.ts";

type Switch = { transcription: "on" | "off" };
type Change = Partial<Switch> & { origins?: string };

export function addEnvironments(program: Command, terminal: Terminal): void {
  const group = program.command("env").description("environments: tenants with their own videos and keys");

  group
    .command("list")
    .description("every environment")
    .action(async (_options: object, command: Command) => {
      const list = async (client: Parameters<typeof chooseEnvironment>[0]) =>
        (await client.send<{ data: EnvironmentView[] }>("GET", "/environments")).data;
      await ask(terminal, command, list, (environments) =>
        table(
          ["name", "id", "transcription", "created"],
          environments.map((each) => [each.name, each.id, onOff(each.aiTranscription), time(each.createdAt)]),
          "There is no environment yet: subtext env create <name>",
        ),
      );
    });

  group
    .command("create <name>")
    .description("make an environment")
    .addOption(transcriptionSwitch().default("off"))
    .action(async (name: string, { transcription }: Switch, command: Command) => {
      const body = { name, aiTranscription: transcription === "on" };
      await ask(
        terminal,
        command,
        (client) => client.send<EnvironmentView>("POST", "/environments", body),
        describe,
      );
    });

  group
    .command("set <environment>")
    .description(
      "switch AI Transcription for videos that finish uploading from now on, or say whose pages upload",
    )
    .addOption(transcriptionSwitch())
    .option(
      "--origins <list>",
      "origins of pages that may upload, https://app.example,…; * for any, none for no page",
    )
    .action(async (wanted: string, { transcription, origins }: Change, command: Command) => {
      if (transcription === undefined && origins === undefined) {
        command.error("error: say what to set: --transcription or --origins", {
          code: "commander.nothingToSet",
        });
      }
      await ask(
        terminal,
        command,
        async (client) => {
          const { id } = await chooseEnvironment(client, wanted);
          const body = {
            ...(transcription !== undefined && { aiTranscription: transcription === "on" }),
            ...(origins !== undefined && { allowedOrigins: originsOf(origins) }),
          };
          return await client.send<EnvironmentView>("PATCH", `/environments/${id}`, body);
        },
        describe,
      );
    });
}

function describe(environment: EnvironmentView): string {
  return properties([
    ["environment", environment.name],
    ["id", environment.id],
    ["transcription", onOff(environment.aiTranscription)],
    ["pages that upload", environment.allowedOrigins.join(", ") || "none"],
  ]);
}

function originsOf(list: string): string[] {
  return list === "none" ? [] : list.split(/[\s,]+/).filter(Boolean);
}
