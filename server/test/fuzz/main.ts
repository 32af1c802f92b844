import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readConfig } from "../../src/config/config.ts";
import { openService } from "../../src/main.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { ContractTap } from "../support/contract-tap.ts";
import { freePort } from "../support/free-port.ts";
import { FUZZ_ENV, fuzz } from "./fuzz.ts";

/**
 * `npm run fuzz -- --requests 5000 --seed 1` starts a service and sends the requests of the seed. `--database-url`
 * takes the URL of an empty PostgreSQL database; by default, the database is the embedded one.
 */
const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "5000" },
    seed: { type: "string" },
    "database-url": { type: "string" },
  },
});
const requests = Number(values.requests);
const seed = values.seed === undefined ? Math.trunc(Math.random() * 2 ** 31) : Number(values.seed);

const dataFolder = await mkdtemp(join(tmpdir(), "subtext-fuzz-"));
const config = readConfig({
  ...FUZZ_ENV,
  PORT: String(await freePort()),
  DATA_DIR: dataFolder,
  DATABASE_URL: values["database-url"],
  MODEL_DOWNLOAD: "off",
});
const service = await openService({ config, log: createLog(config.logLevel, process.stderr) });
const { app, database, transcripts } = service.parts;
const tap = new ContractTap();
tap.listen(app.server);
await app.listen({ port: config.port });
console.log(`seed ${seed}`);
try {
  const report = await fuzz(
    { url: config.publicUrl, transcripts, db: database.kysely, tap },
    { requests, seed },
  );
  console.log(report);
  const { operations } = report;
  const unsuccessful = Object.keys(operations).filter((id) => operations[id]?.successes === 0);
  if (unsuccessful.length > 0)
    throw new Error(`these operations never succeeded, so the run proves little: ${unsuccessful.join(", ")}`);
} finally {
  await service.stop();
  await rm(dataFolder, { recursive: true, force: true });
}
