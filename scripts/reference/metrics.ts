import { Registry } from "prom-client";
import {
  createProcessMetrics,
  createStateMetrics,
  createWorkMetrics,
} from "../../server/src/telemetry/metrics/metric-groups.ts";
import { renderTable } from "./markdown.ts";

export function renderStateMetrics(): string {
  const registry = new Registry();
  createStateMetrics(registry);
  return renderMetrics(registry);
}

export function renderWorkMetrics(): string {
  const registry = new Registry();
  createWorkMetrics(registry);
  return renderMetrics(registry);
}

export function renderProcessMetrics(): string {
  const registry = new Registry();
  createProcessMetrics(registry, ".").close();
  return renderMetrics(registry);
}

function renderMetrics(registry: Registry): string {
  // prom-client's types lack the label names.
  const metrics = registry.getMetricsAsArray() as unknown as {
    name: string;
    type: string;
    labelNames: string[];
    help: string;
  }[];
  const rows = metrics.map(({ name, type, labelNames, help }) => [
    `\`${name}\``,
    type,
    labelNames.map((label) => `\`${label}\``).join(", "),
    help,
  ]);
  return renderTable(["metric", "type", "labels", "meaning"], rows);
}
