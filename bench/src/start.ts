import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../server/test/support/free-port.ts";
import { cpuSeconds } from "./process-tree.ts";
import { MACHINE } from "./recordings.ts";
import { SpawnedService } from "./spawned-service.ts";
import { printTable } from "./table.ts";

// Measures the startup time of the service with the embedded database: of the first start and of later ones.

const LATER_STARTS = 3;

const folder = await mkdtemp(join(tmpdir(), "subtext-start-"));
try {
  const service = new SpawnedService(join(folder, "data"), await freePort());
  const rows: string[][] = [];
  for (let turn = 0; turn <= LATER_STARTS; turn++) {
    const begin = performance.now();
    await service.start();
    const seconds = (performance.now() - begin) / 1000;
    const { own, children } = cpuSeconds(service.pid!);
    rows.push([
      turn === 0 ? "first start" : `start ${turn + 1}`,
      seconds.toFixed(2),
      (own + children).toFixed(2),
    ]);
    await service.end("SIGTERM");
  }
  printTable(
    "From the start of the process to the first successful response of /readyz",
    ["", "seconds", "CPU seconds"],
    rows,
  );
  console.log(`\n  ${MACHINE}`);
} finally {
  await rm(folder, { recursive: true });
}
