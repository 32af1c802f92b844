import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openServiceFor } from "../../src/cli/open-service.ts";
import { readConfig } from "../../src/config/config.ts";
import { Queue } from "../../src/queue/queue.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { readOnlyFolder } from "../support/read-only-folder.ts";
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

test.each(["", "below/it"])("a start whose data folder is a file, %s, says what to do", async (below) => {
  const file = join(await temporaryFolder(), "file");
  await writeFile(file, "");
  await expectUnwritable(join(file, below));
});

test("a start whose data folder cannot be created says what to do", async (context) => {
  const folder = await readOnlyFolder();
  if (folder === null) return context.skip("no file system can be mounted here");
  await expectUnwritable(join(folder, "new/data"));
});

async function expectUnwritable(dataFolder: string): Promise<void> {
  await expect(
    openServiceFor({ config: readConfig({ DATA_DIR: dataFolder }), log: createLog("silent") }),
  ).rejects.toMatchObject({
    code: "data_folder_not_writable",
    message: expect.stringMatching(/^The data folder cannot be written: .*set DATA_DIR to another folder\.$/),
  });
}
