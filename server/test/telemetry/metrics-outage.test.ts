import { randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import { parseMetrics } from "../support/parse-metrics.ts";
import { startService, until } from "../support/service.ts";
import { makeTestDatabase } from "../support/test-database.ts";

const METRICS_TOKEN = "a-token-of-the-tests";
const server = process.env.TEST_DATABASE_URL;

describe.skipIf(!server)("while the database hangs (skipped without TEST_DATABASE_URL)", () => {
  test("a scrape succeeds, reports the outage and has the metrics of the process", {
    timeout: 60_000,
  }, async () => {
    const direct = new URL(await makeTestDatabase(server!, `scrape_${randomUUID().replaceAll("-", "_")}`));
    const proxy = await startTcpProxy({ host: direct.hostname, port: Number(direct.port) });
    onTestFinished(() => proxy.close());
    const DATABASE_URL = direct.href.replace(`:${direct.port}`, `:${proxy.port}`);
    const { url } = await startService({ env: { METRICS_TOKEN, DATABASE_URL } });
    const value = async (name: string) => {
      const response = await fetch(`${url}/metrics`, {
        headers: { authorization: `Bearer ${METRICS_TOKEN}` },
      });
      expect(response.status).toBe(200);
      return parseMetrics(await response.text()).samples.find((sample) => sample.name === name)?.value;
    };
    expect(await value("subtext_database_up")).toBe(1);
    await proxy.hang();
    await until(async () => (await value("subtext_database_up")) === 0);
    expect(await value("process_resident_memory_bytes")).toBeGreaterThan(0);
    await proxy.pass();
    await until(async () => (await value("subtext_database_up")) === 1);
  });
});
