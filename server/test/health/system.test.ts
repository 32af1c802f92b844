import { expect, onTestFinished, test, vi } from "vitest";
import { openSystem, type SystemDeps } from "../../src/health/system.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { hangingDb } from "../support/hanging-db.ts";
import { temporaryFolder } from "../support/service.ts";

test("a slow read is shared until it ends, and a failed one is repeated after a second", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { db, answer } = hangingDb();
  const system = openSystem({
    db,
    config: { dataFolder: await temporaryFolder(), databaseUrl: null },
    models: {} as SystemDeps["models"],
    clock: systemClock,
    log: createLog("silent"),
    version: "0.0.0",
  });
  const first = system.read();
  vi.advanceTimersByTime(60_000);
  expect(system.read()).toBe(first);
  answer.reject(new Error("away"));
  await expect(first).rejects.toThrow("away");
  vi.advanceTimersByTime(1_000);
  const second = system.read();
  expect(second).not.toBe(first);
  await expect(second).rejects.toThrow("away");
});
