import { expect } from "vitest";
import type { TranscriptionRow } from "../src/db/schema.ts";
import type { End, Running, StateWorld } from "./state-model.ts";

/** All that can be seen of a world at one moment. */
export interface Seen {
  at: Date;
  rows: Map<string, TranscriptionRow>;
  attempts: Map<string, { number: number; outcome: string | null }[]>;
  events: Map<string, string[]>;
  livingJobs: Set<string>;
}

export async function see(world: StateWorld): Promise<Seen> {
  const rows = await world.rows();
  const attempts = new Map<string, Seen["attempts"] extends Map<string, infer A> ? A : never>();
  const events = new Map<string, string[]>();
  for (const id of rows.keys()) {
    attempts.set(id, await world.attemptsOf(id));
    events.set(id, await world.eventsOf(id));
  }
  return { at: new Date(), rows, attempts, events, livingJobs: await world.livingJobs() };
}

const EVENT_OF: Record<string, string> = {
  completed: "transcriptions.transcription.completed",
  skipped: "transcriptions.transcription.skipped",
  failed: "transcriptions.transcription.failed",
};
const isOpen = ({ status }: TranscriptionRow) => status === "PENDING" || status === "PROCESSING";
const placeOf = (row: TranscriptionRow) => (row.due_at ?? row.created_at).getTime();

/** What holds at every moment, and of any two. */
export function verify(world: StateWorld, before: Seen, now: Seen): void {
  const open = [...now.rows.values()].filter(isOpen);
  const unparked = open.filter(({ parked_at }) => parked_at === null);
  // Each that waits is named by one living job, and no two by the same.
  for (const row of unparked) expect(now.livingJobs, `job of ${row.id}`).toContain(row.job_id);
  expect(new Set(unparked.map(({ job_id }) => job_id)).size).toBe(unparked.length);

  for (const environmentId of world.environmentIds) {
    const its = open.filter((row) => row.environment_id === environmentId);
    const processing = its.filter(({ status }) => status === "PROCESSING").length;
    const parked = its.filter(({ parked_at }) => parked_at !== null);
    expect(processing).toBeLessThanOrEqual(world.cap ?? Number.POSITIVE_INFINITY);
    // What is parked has a reason, and what will end and wake it.
    if (parked.length === 0) continue;
    expect(world.cap).not.toBeNull();
    expect(parked.every(({ status }) => status === "PENDING")).toBe(true);
    expect(its.length - parked.length).toBeGreaterThanOrEqual(world.cap ?? 0);
  }

  for (const [id, row] of now.rows) {
    const attempts = now.attempts.get(id) ?? [];
    // Attempts are counted without gaps, and all but the one that is running have ended.
    expect(attempts.map(({ number }) => number)).toEqual(
      Array.from({ length: row.attempt }, (_, index) => index + 1),
    );
    const running = attempts.filter(({ outcome }) => outcome === null).map(({ number }) => number);
    expect(running).toEqual(row.status === "PROCESSING" ? [row.attempt] : []);
    // One event an end.
    const ends = attempts.flatMap(({ outcome }) => EVENT_OF[outcome ?? ""] ?? []);
    expect((now.events.get(id) ?? []).toSorted()).toEqual(ends.toSorted());

    const was = before.rows.get(id);
    if (!was) continue;
    expect(row.attempt).toBeGreaterThanOrEqual(was.attempt);
    expect(row.created_at).toEqual(was.created_at);
    if (was.status === "COMPLETED" || was.status === "SKIPPED") expect(row).toEqual(was);
    // What was written down of an attempt that ended stays.
    const past = (before.attempts.get(id) ?? []).filter(({ outcome }) => outcome !== null);
    expect(attempts).toEqual(expect.arrayContaining(past));
  }
}

/** Of one job that a worker got while nothing else happened: its choice was fair. */
export function verifyClaim(world: StateWorld, before: Seen, after: Seen): void {
  const begun = [...after.rows.values()].filter(
    (row) => row.status === "PROCESSING" && row.attempt > (before.rows.get(row.id)?.attempt ?? 0),
  );
  expect(begun.length).toBeLessThanOrEqual(1);
  const [row] = begun;
  const was = row && before.rows.get(row.id);
  if (!row || !was || was.status === "PROCESSING") return;
  const rows = [...before.rows.values()];
  const inWork = (environmentId: string) =>
    rows.filter((other) => other.environment_id === environmentId && other.status === "PROCESSING").length;
  const eligible = rows.filter(
    (other) =>
      other.status === "PENDING" &&
      other.parked_at === null &&
      placeOf(other) <= after.at.getTime() &&
      inWork(other.environment_id) < (world.cap ?? Number.POSITIVE_INFINITY),
  );
  const least = Math.min(...eligible.map((other) => inWork(other.environment_id)));
  const fairest = eligible.filter((other) => inWork(other.environment_id) === least);
  const oldest = Math.min(...fairest.map(placeOf));
  // One whose job has come is due whatever the clock says, where nothing else is.
  if (eligible.length === 0) return;
  expect(inWork(was.environment_id)).toBe(least);
  expect(placeOf(was)).toBe(oldest);
}

/** Of one attempt that ended while nothing else happened: it counts if nothing had replaced it, else not at all. */
export function verifyEnd(running: Running, how: End, before: Seen, after: Seen): void {
  const was = before.rows.get(running.transcriptionId);
  const row = after.rows.get(running.transcriptionId);
  if (!was) {
    expect(row).toBeUndefined();
    return;
  }
  const held = was.status === "PROCESSING" && was.attempt === running.attempt;
  if (!held) {
    // Another's end may wake it, and no more than that.
    const { job_id, parked_at, changed_at, ...rest } = was;
    expect(row).toMatchObject(rest);
    return;
  }
  const expected: Record<End, string[]> = {
    complete: ["COMPLETED"],
    skip: ["SKIPPED"],
    fail: ["FAILED"],
    fault: [was.faults < 2 ? "PENDING" : "FAILED"],
    language: ["PENDING"],
    "hand back": ["PENDING"],
    yield: ["PENDING"],
  };
  expect(expected[how]).toContain(row?.status);
  if (how === "hand back") expect(placeOf(row!)).toBe(placeOf(was));
  // Behind all that waited: it may have begun before its time, where nothing else was due.
  if (how === "yield") expect(placeOf(row!)).toBeGreaterThanOrEqual(before.at.getTime());
}
