import { DEFAULT_PERMISSIONS, PERMISSIONS, type Permission } from "@subtext/client/contract/permission";
import type { Command } from "commander";
import type { ApiKeyView } from "../../admin/contract/api-key.ts";
import { commandLine } from "../../lib/command-line.ts";
import { environmentOption, environmentParams, parseDuration, parseList } from "../arguments.ts";
import { runOnService, type Terminal } from "../context.ts";
import { properties, table, time } from "../text.ts";

interface NewKey {
  env: string;
  name?: string;
  permissions?: Permission[];
  /** Milliseconds. */
  expiresIn?: number;
}

export function addKeys(program: Command, terminal: Terminal): void {
  const group = program
    .command("keys")
    .description("manage API keys, each of which gives access to one environment");

  runOnService(
    group
      .command("list")
      .description("list the keys of an environment")
      .addOption(environmentOption().makeOptionMandatory()),
    terminal,
    async (client, { env }: { env: string }) => {
      const params = await environmentParams(client, env);
      return (await client.send("GET /environments/:environment/api-keys", { params })).data;
    },
    (keys) =>
      table(
        ["name", "id", "permissions", "state", "last used"],
        keys.map((key) => [key.name, key.id, key.permissions.join(","), stateOf(key), time(key.lastUsedAt)]),
        `There are no keys yet. Create one: ${commandLine("keys create --env <environment>")}`,
      ),
  );

  runOnService(
    group
      .command("create")
      .description("create a key; it is shown only once")
      .addOption(environmentOption().makeOptionMandatory())
      .option("--name <name>", "what the key is for")
      .option(
        "--permissions <list>",
        `comma-separated list of ${PERMISSIONS.join(", ")}; ${DEFAULT_PERMISSIONS.join(" and ")} by default`,
        parseList(PERMISSIONS),
      )
      .option("--expires-in <time>", "when the key expires, such as 90d or 12h from now", parseDuration),
    terminal,
    async (client, { env, expiresIn, ...body }: NewKey) => {
      const expiresAt = expiresIn === undefined ? undefined : new Date(Date.now() + expiresIn).toISOString();
      return await client.send("POST /environments/:environment/api-keys", {
        params: await environmentParams(client, env),
        body: { ...body, expiresAt },
      });
    },
    (key) =>
      properties([
        ["key", key.key],
        ["id", key.id],
        ["name", key.name],
        ["permissions", key.permissions.join(", ")],
        ["expires", key.expiresAt === null ? "never" : time(key.expiresAt)],
        ["note", "The key is shown only once; only its hash is stored."],
      ]),
  );

  runOnService(
    group.command("revoke <id>").description("revoke a key"),
    terminal,
    async (client, id: string) => {
      await client.send("DELETE /api-keys/:id", { params: { id } });
      return { id, revoked: true };
    },
    ({ id }) => `The key ${id} was revoked.`,
  );
}

function stateOf({ revokedAt, expiresAt }: ApiKeyView): string {
  if (revokedAt !== null) return "revoked";
  if (expiresAt === null) return "valid";
  return new Date(expiresAt) <= new Date() ? "expired" : `until ${time(expiresAt)}`;
}
