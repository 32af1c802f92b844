import { expect } from "vitest";
import type { TranscriptionRow } from "../../src/db/tables/transcriptions.ts";
import type { End, Running, SeenAttempt, SeenEvent, StateWorld } from "./state-model.ts";

/** Everything observable of a world at one time. */
export interface Seen {
  at: Date;
  rows: Map<string, TranscriptionRow>;
  attempts: Map<string, SeenAttempt[]>;
  events: Map<string, SeenEvent[]>;
  livingJobs: Set<string>;
  startTags: Map<string, number>;
  virtualTime: number;
}

export async function see(world: StateWorld): Promise<Seen> {
  const rows = await world.rows();
  const attempts: Seen["attempts"] = new Map();
  const events: Seen["events"] = new Map();
  for (const id of rows.keys()) {
    attempts.set(id, await world.attemptsOf(id));
    events.set(id, await world.eventsOf(id));
  }
  return {
    at: new Date(),
    rows,
    attempts,
    events,
    livingJobs: await world.livingJobs(),
    startTags: await world.startTags(),
    virtualTime: await world.virtualTime(),
  };
}

const EVENT_OF: Record<string, string> = {
  completed: "transcriptions.transcription.completed",
  skipped: "transcriptions.transcription.skipped",
  failed: "transcriptions.transcription.failed",
};
const isOpen = ({ status }: TranscriptionRow) => status === "PENDING" || status === "PROCESSING";

/** Invariants of every state, and of every pair of successive states. */
export function verify(world: StateWorld, before: Seen, now: Seen): void {
  const open = [...now.rows.values()].filter(isOpen);
  // Each waiting row has one live job, and no two have the same.
  for (const row of open) expect(now.livingJobs, `job of ${row.id}`).toContain(row.job_id);
  expect(new Set(open.map(({ job_id }) => job_id)).size).toBe(open.length);
  expect(now.virtualTime).toBeGreaterThanOrEqual(before.virtualTime);

  for (const environmentId of world.environmentIds) {
    const its = open.filter((row) => row.environment_id === environmentId);
    const processing = its.filter(({ status }) => status === "PROCESSING").length;
    expect(processing).toBeLessThanOrEqual(world.cap ?? Number.POSITIVE_INFINITY);
  }

  for (const [id, row] of now.rows) {
    const attempts = now.attempts.get(id) ?? [];
    // Attempts are counted without gaps, and all but the one that is running have ended.
    expect(attempts.map(({ number }) => number)).toEqual(
      Array.from({ length: row.attempt }, (_, index) => index + 1),
    );
    const running = attempts.filter(({ outcome }) => outcome === null).map(({ number }) => number);
    expect(running).toEqual(row.status === "PROCESSING" ? [row.attempt] : []);
    // One event per end of an attempt. A cancellation has one even if no attempt was running.
    const events = now.events.get(id) ?? [];
    const isCanceled = (code: string | null | undefined) => code === "canceled";
    const ends = attempts.filter(({ failure_code }) => !isCanceled(failure_code));
    const ended = events.filter(({ detail }) => !isCanceled(detail.error?.code));
    expect(ended.map(({ type }) => type).toSorted()).toEqual(
      ends.flatMap(({ outcome }) => EVENT_OF[outcome ?? ""] ?? []).toSorted(),
    );
    expect(events.length - ended.length).toBeGreaterThanOrEqual(attempts.length - ends.length);

    const was = before.rows.get(id);
    if (!was) continue;
    expect(row.attempt).toBeGreaterThanOrEqual(was.attempt);
    expect(row.created_at).toEqual(was.created_at);
    if (was.status === "COMPLETED" || was.status === "SKIPPED") expect(row).toEqual(was);
    // The record of an attempt that ended never changes.
    const past = (before.attempts.get(id) ?? []).filter(({ outcome }) => outcome !== null);
    expect(attempts).toEqual(expect.arrayContaining(past));
  }
}

/** After a worker got one job and nothing else happened: at most one attempt began, and the queue's clock follows it. */
export function verifyClaim(before: Seen, after: Seen): void {
  const begun = [...after.rows.values()].filter(
    (row) => row.status === "PROCESSING" && row.attempt > (before.rows.get(row.id)?.attempt ?? 0),
  );
  expect(begun.length).toBeLessThanOrEqual(1);
  const [row] = begun;
  if (!row || before.rows.get(row.id)?.status === "PROCESSING") return;
  expect(after.virtualTime).toBe(Math.max(before.virtualTime, after.startTags.get(row.id)!));
}

/** After one attempt ended and nothing else happened: it counts unless it had been replaced. */
export function verifyEnd(running: Running, how: End, before: Seen, after: Seen): void {
  const was = before.rows.get(running.transcriptionId);
  const row = after.rows.get(running.transcriptionId);
  if (!was) {
    expect(row).toBeUndefined();
    return;
  }
  const held = was.status === "PROCESSING" && was.attempt === running.attempt;
  if (!held) {
    // The first progress report of the attempt that replaced this one may be stored meanwhile. It changes only the time.
    expect(row).toEqual({ ...was, changed_at: row?.changed_at });
    return;
  }
  const expected: Record<End, string[]> = {
    complete: ["COMPLETED"],
    skip: ["SKIPPED"],
    fail: ["FAILED"],
    fault: [was.failure_count < 2 ? "PENDING" : "FAILED"],
    language: ["PENDING"],
    "hand back": ["PENDING"],
    yield: ["PENDING"],
  };
  expect(expected[how]).toContain(row?.status);
  const startTag = (seen: Seen) => seen.startTags.get(was.id)!;
  if (how === "hand back") expect(startTag(after)).toBe(startTag(before));
  if (how === "yield") expect(startTag(after)).toBeGreaterThan(startTag(before));
}
