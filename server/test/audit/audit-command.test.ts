import { beforeAll, expect, test } from "vitest";
import type { AuditEventView } from "../../src/admin/contract/audit.ts";
import { type AuditActor, type AuditEvent, recordAuditEvent } from "../../src/audit/audit-events.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { runCommand } from "../support/run-command.ts";
import { shareService } from "../support/service.ts";

const subtext = shareService();
const DAY_MS = 86_400_000;
/** More than one page of the API. */
const OLD_ENTRIES = 120;
const olive: AuditActor = {
  kind: "operator",
  id: "operator_olive",
  name: "olive@subtext.example",
  address: null,
};

beforeAll(async () => {
  const db = subtext.service.parts.database.kysely;
  const write = (daysAgo: number, actor: AuditActor, event: AuditEvent) => {
    const clock = { now: () => new Date(systemClock.now().getTime() - daysAgo * DAY_MS) };
    return db.transaction().execute((tx) => recordAuditEvent({ tx, clock }, actor, event));
  };
  for (let day = OLD_ENTRIES; day > 0; day--) await write(day, olive, { action: "operator.signed_in" });
  await write(0, { ...olive, id: "operator_oscar" }, { action: "operator.password_changed" });
  const made = await runCommand(subtext.dataFolder, ["env", "create", "Production", "--transcription", "on"]);
  expect(made).toMatchObject({ exitCode: 0, err: "" });
});

async function audit(...args: string[]): Promise<AuditEventView[]> {
  const { exitCode, out, err } = await runCommand(subtext.dataFolder, ["audit", ...args]);
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
  return out.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as AuditEventView]));
}

test("the audit log is printed as one JSON object per line, newest first, across all pages", async () => {
  const entries = await audit();
  expect(entries).toHaveLength(OLD_ENTRIES + 2);
  expect(entries.map(({ at }) => at)).toEqual(
    entries
      .map(({ at }) => at)
      .sort()
      .reverse(),
  );
  expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
  expect(entries[0]).toMatchObject({
    action: "environment.created",
    actor: { kind: "command_line" },
    address: null,
    environment: { name: "Production" },
    detail: { aiTranscription: true },
  });
});

test("entries are filtered by action, actor and time, alone and combined", async () => {
  const actions = async (...args: string[]) => (await audit(...args)).map(({ action }) => action);
  expect(await actions("--action", "environment.created")).toEqual(["environment.created"]);
  expect(await actions("--by", "command_line")).toEqual(["environment.created"]);
  expect(await actions("--operator", "operator_oscar")).toEqual(["operator.password_changed"]);
  expect(await actions("--last", "12h")).toEqual(["environment.created", "operator.password_changed"]);
  // Ends after the first page and before the last entry.
  expect(await actions("--last", "110d", "--by", "operator", "--operator", "operator_olive")).toHaveLength(
    109,
  );
  expect(await actions("--by", "stranger")).toEqual([]);
});

test("an unknown action is an error that lists the known ones", async () => {
  const { exitCode, out, err } = await runCommand(subtext.dataFolder, ["audit", "--action", "video.watched"]);
  expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
  expect(err).toContain("video.deleted");
});
