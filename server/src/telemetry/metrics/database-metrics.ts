import { Gauge, type Registry } from "prom-client";
import type { Connections } from "../../db/database.ts";

/** Excludes the connections of pg-boss. */
export function reportDatabase(registry: Registry): {
  setUp(up: boolean): void;
  setConnections(connections: Connections): void;
} {
  const registers = [registry];
  const up = new Gauge({
    name: "subtext_database_up",
    help: "1 if the database responded to this process in time, otherwise 0.",
    registers,
  });
  const connections = new Gauge({
    name: "subtext_database_connections",
    help: "Connections of this process to the database: `busy` and `idle`. The queue has up to five more.",
    labelNames: ["state"],
    registers,
  });
  const maximum = new Gauge({
    name: "subtext_database_connections_max",
    help: "Maximum number of connections of this process; 1 with the embedded database.",
    registers,
  });
  const waiting = new Gauge({
    name: "subtext_database_waiting",
    help: "Queries and transactions that are waiting for a connection.",
    registers,
  });
  return {
    setUp: (isUp) => up.set(isUp ? 1 : 0),
    setConnections({ open, idle, max, waiting: queries }) {
      connections.set({ state: "busy" }, open - idle);
      connections.set({ state: "idle" }, idle);
      maximum.set(max);
      waiting.set(queries);
    },
  };
}
