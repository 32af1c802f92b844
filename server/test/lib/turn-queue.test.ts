import { expect, test } from "vitest";
import { TurnQueue } from "../../src/lib/turn-queue.ts";

const patient = new AbortController().signal;

/** Requests a turn and records when it begins. `end` ends it. */
function ask(queue: TurnQueue, owner: string, begun: string[], signal = patient) {
  let end = () => {};
  const turn = queue.enter(owner, signal).then((endTurn) => {
    begun.push(owner);
    end = endTurn;
  });
  return { turn, end: () => end() };
}

/** Runs all pending promise callbacks. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("the number of running turns is limited, in total and per owner", async () => {
  const queue = new TurnQueue({ maxRunning: 3, maxRunningPerOwner: 2, maxWaiting: 100 });
  const begun: string[] = [];
  const greedy = Array.from({ length: 5 }, () => ask(queue, "greedy", begun));
  await settle();
  expect(begun).toEqual(["greedy", "greedy"]);
  ask(queue, "modest", begun);
  ask(queue, "third", begun);
  await settle();
  expect(begun).toEqual(["greedy", "greedy", "modest"]);
  // Ending a turn twice frees one slot.
  greedy[0]?.end();
  greedy[0]?.end();
  await settle();
  expect(begun).toEqual(["greedy", "greedy", "modest", "greedy"]);
  greedy[1]?.end();
  await settle();
  expect(begun).toEqual(["greedy", "greedy", "modest", "greedy", "third"]);
});

test("an owner with many requests delays another by one turn", async () => {
  const queue = new TurnQueue({ maxRunning: 1, maxRunningPerOwner: 1, maxWaiting: 1_000 });
  const begun: string[] = [];
  const asked = Array.from({ length: 500 }, () => ask(queue, "greedy", begun));
  await settle();
  asked.push(ask(queue, "modest", begun), ask(queue, "modest", begun));
  for (let round = 0; round < 4; round++) {
    for (const { end } of asked) end();
    await settle();
  }
  expect(begun).toEqual(["greedy", "greedy", "modest", "greedy", "modest"]);
});

test("a request whose client disconnects leaves the queue", async () => {
  const queue = new TurnQueue({ maxRunning: 1, maxRunningPerOwner: 1, maxWaiting: 100 });
  const begun: string[] = [];
  const first = ask(queue, "first", begun);
  const leaving = new AbortController();
  const left = ask(queue, "left", begun, leaving.signal);
  ask(queue, "last", begun);
  leaving.abort(new Error("left"));
  await expect(left.turn).rejects.toThrow("left");
  first.end();
  await settle();
  expect(begun).toEqual(["first", "last"]);
});

test("the queue is bounded, but work that has begun is not refused", async () => {
  const queue = new TurnQueue({ maxRunning: 1, maxRunningPerOwner: 1, maxWaiting: 2 });
  const begun: string[] = [];
  const asked = Array.from({ length: 3 }, () => ask(queue, "key", begun));
  await expect(queue.enter("other", patient)).rejects.toMatchObject({ code: "service_unavailable" });
  const again = queue.reenter("other").then(() => begun.push("again"));
  for (let round = 0; round < 2; round++) {
    for (const { end } of asked) end();
    await settle();
  }
  await again;
  expect(begun).toEqual(["key", "key", "again"]);
});
