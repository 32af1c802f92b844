import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { Queue } from "../../src/queue/queue.ts";
import { startService, temporaryFolder } from "../support/service.ts";

test("a start that fails after the queue was started stops the queue, and the next start succeeds", async () => {
  const dataFolder = await temporaryFolder();
  const file = join(await temporaryFolder(), "no folder");
  await writeFile(file, "");
  const stop = vi.spyOn(Queue.prototype, "stop");
  try {
    await expect(startService({ dataFolder, dashboardFolder: file })).rejects.toMatchObject({
      code: "ENOTDIR",
    });
    expect(stop).toHaveBeenCalledTimes(1);
  } finally {
    stop.mockRestore();
  }
  const { url } = await startService({ dataFolder });
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});
