import {
  EVENT_TYPES,
  type EventType,
  FINAL_EVENT_TYPES,
  type SentEventType,
} from "@subtext/client/contract/webhook";
import type { Delivery, WebhookEndpoint } from "@subtext/client/contract/webhook-endpoint";
import { type Command, Option } from "commander";
import { commandLine } from "../../lib/command-line.ts";
import { environmentOption, environmentParams, parseJsonObject, parseList } from "../arguments.ts";
import { runOnService, type Terminal } from "../context.ts";
import { properties, table, time } from "../text.ts";

interface NewEndpoint {
  env: string;
  url: string;
  metadata?: Record<string, unknown>;
  events: EventType[];
}

export function addWebhooks(program: Command, terminal: Terminal): void {
  const group = program
    .command("webhooks")
    .description("manage webhook endpoints, which are URLs that receive events");

  runOnService(
    group
      .command("list")
      .description("list the endpoints of an environment")
      .addOption(environmentOption().makeOptionMandatory()),
    terminal,
    async (client, { env }: { env: string }) => {
      const params = await environmentParams(client, env);
      return (await client.send("GET /environments/:environment/webhook-endpoints", { params })).data;
    },
    (endpoints) =>
      table(
        ["url", "id", "events", "state"],
        endpoints.map((each) => [each.url, each.id, shortNames(each.eventTypes), stateOf(each)]),
        `There are no endpoints yet. Create one: ${commandLine("webhooks create --env <environment> --url <url>")}`,
      ),
  );

  runOnService(
    group
      .command("create")
      .description("subscribe a URL and print its signing secret")
      .addOption(environmentOption().makeOptionMandatory())
      .requiredOption("--url <url>", "where events are sent")
      .option("--metadata <json>", "a JSON object to include in every event", parseJsonObject)
      .addOption(
        new Option("--events <list>", `comma-separated list of ${EVENT_TYPES.join(", ")}`)
          .argParser(parseList(EVENT_TYPES))
          .default([...FINAL_EVENT_TYPES], "all but the last"),
      ),
    terminal,
    async (client, { env, events, ...body }: NewEndpoint) =>
      client.send("POST /environments/:environment/webhook-endpoints", {
        params: await environmentParams(client, env),
        body: { ...body, eventTypes: events },
      }),
    (endpoint) =>
      properties([
        ["secret", endpoint.secret],
        ["id", endpoint.id],
        ["url", endpoint.url],
        ["events", shortNames(endpoint.eventTypes)],
        ["note", "The secret signs every delivery. Owners can view it again in the dashboard."],
      ]),
  );

  runOnService(
    group.command("delete <id>").description("delete an endpoint and its deliveries"),
    terminal,
    async (client, id: string) => {
      await client.send("DELETE /webhook-endpoints/:id", { params: { id } });
      return { id, deleted: true };
    },
    ({ id }) => `The endpoint ${id} was deleted.`,
  );

  runOnService(
    group.command("deliveries <id>").description("list the latest deliveries to an endpoint"),
    terminal,
    async (client, id: string) =>
      (await client.send("GET /webhook-endpoints/:id/deliveries", { params: { id } })).data,
    (deliveries) =>
      table(
        ["event", "id", "status", "attempts", "last response", "next attempt"],
        deliveries.map((each) => [
          shortNames([each.eventType]),
          each.id,
          each.status,
          String(each.attempts.at(-1)?.number ?? 0),
          lastResponse(each),
          time(each.nextAttemptAt),
        ]),
        "There are no deliveries yet.",
      ),
  );
}

/** Shortens `transcriptions.transcription.completed` to `completed`. */
function shortNames(types: SentEventType[]): string {
  return types.map((type) => type.split(".").at(-1)).join(",");
}

function stateOf({ disabledAt, disabledReason, failingSince }: WebhookEndpoint): string {
  if (disabledAt !== null) return `disabled: ${disabledReason ?? ""}`;
  return failingSince === null ? "OK" : `failing since ${time(failingSince)}`;
}

function lastResponse({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  return last === undefined ? "–" : (last.failure ?? String(last.statusCode));
}
