import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseMetrics } from "../support/parse-metrics.ts";
import { shareService } from "../support/service.ts";

const root = join(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const docs = read("docs/metrics.md");
const rules = read("deploy/alerts/subtext.rules.yaml");
const dashboard = read("deploy/grafana/subtext.json");

const METRICS_TOKEN = "a-token-of-the-tests";
const service = shareService({ env: { METRICS_TOKEN }, start: false });

async function scrape(): Promise<string> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  return await (await fetch(`${service.url}/metrics`, { headers })).text();
}

/** Returns all words that look like names of metrics. */
function namesIn(text: string): Set<string> {
  return new Set(text.match(/\b(subtext|nodejs|process)_[a-z0-9_]+\b/g));
}

test("the dashboard and the alerts query existing metrics", async () => {
  const { families } = parseMetrics(await scrape());
  const known = new Set(
    [...families].flatMap(([name, type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  for (const text of [dashboard, rules]) {
    const asked = [...namesIn(text)];
    expect(asked.length).toBeGreaterThan(10);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
  }
});

test("the dashboard shows every metric of the service", async () => {
  const { families } = parseMetrics(await scrape());
  const own = [...families.keys()].filter((name) => name.startsWith("subtext_"));
  expect(own.length).toBeGreaterThan(10);
  expect(own.filter((name) => !dashboard.includes(name))).toEqual([]);
});

test("docs/metrics.md has every metric, and no other", async () => {
  const { families } = parseMetrics(await scrape());
  const documented = [...docs.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(documented.sort()).toEqual([...families.keys()].sort());
});

test("every alert links to its section of docs/metrics.md", () => {
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);
  const links = [...rules.matchAll(/runbook_url: docs\/metrics\.md#(\w+)/g)].map(([, anchor]) => anchor);
  const sections = [...docs.matchAll(/^### (Subtext\w+)$/gm)].map(([, name]) => name);
  expect(alerts.length).toBeGreaterThan(10);
  expect(sections).toEqual(alerts);
  expect(links).toEqual(alerts.map((name) => name.toLowerCase()));
});

test("the dashboard's panels do not overlap and have distinct queries", () => {
  const { panels } = JSON.parse(dashboard) as {
    panels: {
      id: number;
      type: string;
      gridPos: Record<"x" | "y" | "w" | "h", number>;
      targets?: unknown[];
    }[];
  };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const taken = new Set<string>();
  for (const { type, gridPos, targets } of panels) {
    if (type !== "row") expect(targets?.length).toBeGreaterThan(0);
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(taken.has(`${x} ${y}`)).toBe(false);
        taken.add(`${x} ${y}`);
      }
    }
  }
});

const promtool = (process.env.PATH ?? "").split(":").some((folder) => existsSync(join(folder, "promtool")));

test.skipIf(!promtool)(
  "promtool finds nothing to report about the rules, their tests and a scrape (skipped without promtool)",
  async () => {
    const run = (args: string[], input = "") =>
      execFileSync("promtool", args, { cwd: join(root, "deploy/alerts"), input, encoding: "utf8" });
    expect(run(["check", "rules", "subtext.rules.yaml"])).toContain("SUCCESS");
    expect(run(["test", "rules", "subtext.rules.test.yaml"])).toContain("SUCCESS");
    expect(run(["check", "metrics"], await scrape())).toBe("");
  },
);
