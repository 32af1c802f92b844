import { existsSync, readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, test } from "vitest";
import { lowerPriority } from "../../src/lib/lower-priority.ts";
import { createSpeech } from "../../src/processes/process-pool.ts";
import { descendantsRunning } from "../support/processes.ts";

const STEPS = 5;

test.runIf(process.platform === "linux")(
  "speech goes after other work: all threads of its process, and the session that they are",
  { timeout: 30_000 },
  async () => {
    const speech = createSpeech({
      parts: () => ({ bundled: true, multilingual: null, bundledTakesEnglish: false, remedy: "" }),
      processes: 1,
      threads: 2,
      memoryLimitBytes: 1_500_000_000,
      heartbeatTimeoutMs: 30_000,
    });
    try {
      await speech.describe();
      const [pid] = descendantsRunning(process.pid, "processes/process-main.ts");
      const expected = Math.min(19, getPriority() + STEPS);
      const threads = readdirSync(`/proc/${pid}/task`);
      // Its own, and those of the engine and of voice activity.
      expect(threads.length).toBeGreaterThan(4);
      expect(threads.map((thread) => [thread, getPriority(Number(thread))])).toEqual(
        threads.map((thread) => [thread, expected]),
      );
      const session = `/proc/${pid}/autogroup`;
      if (existsSync(session)) expect(readFileSync(session, "utf8")).toMatch(new RegExp(`nice ${STEPS}\n$`));
    } finally {
      await speech.close();
    }
  },
);

test("an exited process is ignored", () => {
  expect(() => lowerPriority(2 ** 22 + 1, STEPS)).not.toThrow();
});
