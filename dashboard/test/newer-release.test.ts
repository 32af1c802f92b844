import { join } from "node:path";
import type { AuditEventView } from "@subtext/server/admin/contract/audit";
import type { AuditAction } from "@subtext/server/db/enums";
import { expect, test } from "vitest";
import { entryDetails, entryTitle } from "../src/features/audit/texts.ts";

const entry = (action: string, detail: AuditEventView["detail"]): AuditEventView => ({
  id: "aud_1",
  at: "2026-11-27T12:00:00.000Z",
  action: action as AuditAction,
  actor: { kind: "service", id: null, name: null },
  address: null,
  environment: { id: "env_1", name: "Production" },
  subject: null,
  detail,
});

test("audit events of a newer release are shown by their codes, without empty details", () => {
  expect(entryTitle(entry("video.archived", {}))).toBe("video.archived");
  expect(entryDetails(entry("bulk_operation.requested", { kind: "archive", matched: 2 }))).toEqual([
    "Production",
    "2 videos",
  ]);
});

test("retention policies are shown as data or, from an older release, as the text that it recorded", () => {
  const to = { days: 1, deletes: "recording" as const };
  expect(entryDetails(entry("environment.retention_changed", { from: "video after 90 days", to }))).toEqual([
    "Production",
    "from video after 90 days to recording after 1 day",
  ]);
});

test("events and states of webhooks of a newer release are shown by their codes", async () => {
  // The types of this module come from a component, and tests are compiled without JSX.
  const path = join(import.meta.dirname, "../src/features/webhooks/texts.ts");
  const { eventName, statusBadge } = (await import(path)) as Record<string, (code: string) => unknown>;
  expect(eventName?.("transcriptions.transcription.completed")).toBe("Completed");
  expect(eventName?.("videos.video.archived")).toBe("videos.video.archived");
  expect(statusBadge?.("paused")).toEqual({ label: "paused", tone: "plain" });
});
