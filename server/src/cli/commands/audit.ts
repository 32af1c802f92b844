import { type Command, Option } from "commander";
import { ACTOR_KINDS, type ActorKind, AUDIT_ACTIONS, type AuditAction } from "../../db/enums.ts";
import { parseDuration } from "../arguments.ts";
import { type Terminal, withService } from "../context.ts";

const PAGE_SIZE = 100;

interface Filters {
  action?: AuditAction;
  by?: ActorKind;
  operator?: string;
  /** Milliseconds. */
  last?: number;
}

export function addAudit(program: Command, terminal: Terminal): void {
  program
    .command("audit")
    .description("print the audit log as JSON lines, newest first")
    .addOption(new Option("--action <action>", "only events with this action").choices(AUDIT_ACTIONS))
    .addOption(new Option("--by <kind>", "only events of this kind of actor").choices(ACTOR_KINDS))
    .option("--operator <id>", "only events of this operator or API key")
    .option("--last <time>", "maximum age of the events, such as 90d or 12h", parseDuration)
    .action(async ({ action, by, operator, last }: Filters) => {
      const since = last === undefined ? null : new Date(Date.now() - last).toISOString();
      await withService(terminal, async (client) => {
        for (let cursor: string | undefined; ; ) {
          const query = { limit: PAGE_SIZE, action, actorKind: by, actorId: operator, cursor };
          const { data, nextCursor } = await client.send("GET /audit", { query });
          const wanted = data.filter(({ at }) => since === null || at >= since);
          terminal.out(wanted.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
          if (nextCursor === null || wanted.length < data.length) return;
          cursor = nextCursor;
        }
      });
    });
}
