import fc from "fast-check";
import { expect, test } from "vitest";
import { createTenant, shareService } from "../support/service.ts";
import { ENDS, type End, StateWorld } from "./state-model.ts";
import { type Seen, see, verify, verifyClaim, verifyEnd } from "./state-model-rules.ts";

/** `MODEL_RUNS` and `MODEL_SEED` repeat a run, or run longer. */
const RUNS = Number(process.env.MODEL_RUNS ?? 6);
const SEED = process.env.MODEL_SEED ? { seed: Number(process.env.MODEL_SEED) } : {};

const service = shareService({ start: false });

/** The numbers choose among what exists when it is the action's turn. */
type Action =
  | { do: "upload" | "take" | "lose lease" | "delete" | "reprocess" | "cancel" | "forget"; which: number }
  | { do: "end"; which: number; how: End }
  | { do: "advance"; seconds: number }
  | { do: "model arrives" | "sweep" };

const which = fc.nat({ max: 40 });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("upload" as const), which }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constant("take" as const), which }) },
  {
    weight: 7,
    arbitrary: fc.record({ do: fc.constant("end" as const), which, how: fc.constantFrom(...ENDS) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("lose lease", "delete", "reprocess", "cancel", "forget"),
      which,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("advance" as const), seconds: fc.constantFrom(6, 70, 400) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("model arrives" as const, "sweep" as const) }) },
);
/** The result of a single action is checked against the model; concurrent actions are checked against the invariants. */
const steps: fc.Arbitrary<Action[][]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.tuple(action) },
    { weight: 1, arbitrary: fc.array(action, { minLength: 2, maxLength: 4 }) },
  ),
  { minLength: 10, maxLength: 40 },
);

/** A worker wakes up after its successor has begun, or ended: only the fencing of each write can hold it back. */
const STALE: Action[][] = [
  [{ do: "upload", which: 0 }],
  [{ do: "take", which: 0 }],
  [{ do: "lose lease", which: 0 }],
  [{ do: "take", which: 0 }],
];
const ended = (which: number, how: End): [Action] => [{ do: "end", which, how }];
const EXAMPLES: [Action[][], number | null][] = [
  [[...STALE, ended(0, "complete")], null],
  [[...STALE, ended(0, "fault"), ended(0, "complete")], 1],
  [[...STALE, ended(1, "skip"), ended(0, "skip")], null],
  [[...STALE, [{ do: "cancel", which: 0 }], ended(0, "complete"), ended(0, "fail")], null],
];

/** Chooses the action's target before any concurrent action has begun. */
async function prepare(world: StateWorld, action: Action, seen: Seen): Promise<() => Promise<void>> {
  const pick = <T>(from: T[], number: number): T | undefined => from[number % Math.max(1, from.length)];
  switch (action.do) {
    case "upload": {
      const environmentId = pick(world.environmentIds, action.which)!;
      return () => world.upload(environmentId);
    }
    case "take": {
      const job = pick(
        (await world.waitingJobs()).filter(({ due }) => due),
        action.which,
      );
      return async () => job && (await world.take(job.id));
    }
    case "end": {
      const running = pick([...world.running], action.which);
      return async () => await running?.end(action.how);
    }
    case "lose lease": {
      const running = pick([...world.running], action.which);
      return async () => running && (await world.loseLease(running));
    }
    case "delete": {
      const row = pick([...seen.rows.values()], action.which);
      return async () => row && (await world.delete(row));
    }
    case "reprocess": {
      const row = pick([...seen.rows.values()], action.which);
      return async () => row && (await world.reprocess(row));
    }
    case "cancel": {
      const row = pick([...seen.rows.values()], action.which);
      return async () => row && (await world.cancel(row));
    }
    case "forget": {
      const job = pick(await world.waitingJobs(), action.which);
      return async () => job && (await world.forget(job.id));
    }
    case "advance":
      return async () => await world.pass(action.seconds);
    case "model arrives":
      return () => world.modelArrives();
    case "sweep":
      return () => world.sweep();
  }
}

test("whatever workers, leases, operators and the clock do, each transcription is moved by one worker at a time, waits for one job, and ends once", {
  timeout: 1_200_000,
}, async () => {
  const tenants = await Promise.all([1, 2, 3].map(() => createTenant(service)));
  const environmentIds = tenants.map(({ environmentId }) => environmentId);
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom<number | null>(null, 1, 2), async (steps, cap) => {
      const world = new StateWorld(service.service.parts, environmentIds, cap);
      await world.clear();
      try {
        let before = await see(world);
        for (const actions of steps) {
          const [only] = actions;
          const running = only?.do === "end" ? world.running[only.which % world.running.length] : undefined;
          const prepared = await Promise.all(
            actions.map(async (action) => await prepare(world, action, before)),
          );
          await Promise.all(prepared.map(async (run) => await run()));
          // A lost job may belong to another row by the time it is missed. The next sweep replaces it.
          if (actions.some((action) => action.do === "forget")) await world.sweep();
          const after = await see(world);
          verify(world, before, after);
          if (actions.length === 1) {
            if (only?.do === "take") verifyClaim(before, after);
            if (only?.do === "end" && running) verifyEnd(running, only.how, before, after);
          }
          before = after;
        }
        await world.drain();
        const last = await see(world);
        verify(world, before, last);
        const open = [...last.rows.values()].filter(({ status }) =>
          ["PENDING", "PROCESSING"].includes(status),
        );
        expect(open).toEqual([]);
      } finally {
        await world.clear();
      }
    }),
    { numRuns: EXAMPLES.length + RUNS, examples: EXAMPLES, ...SEED, endOnFailure: true },
  );
});
