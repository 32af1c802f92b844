import { Gauge, type Registry } from "prom-client";
import type { Connections } from "../../db/database.ts";

/** Metrics of this process's database connections, excluding pg-boss's. */
export function reportConnections(registry: Registry): (connections: Connections) => void {
  const registers = [registry];
  const connections = new Gauge({
    name: "subtext_database_connections",
    help: "Connections of this process to the database, by whether somebody uses them; the queue has its own.",
    labelNames: ["state"],
    registers,
  });
  const most = new Gauge({
    name: "subtext_database_connections_max",
    help: "As many connections there may be; the embedded database has one.",
    registers,
  });
  const waiting = new Gauge({
    name: "subtext_database_waiting",
    help: "Queries and transactions that wait for a connection.",
    registers,
  });
  return ({ open, idle, max, waiting: queries }) => {
    connections.set({ state: "busy" }, open - idle);
    connections.set({ state: "idle" }, idle);
    most.set(max);
    waiting.set(queries);
  };
}
