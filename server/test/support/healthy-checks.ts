import type { HealthChecks } from "../../src/health/doctor.ts";

export const HEALTHY_CHECKS: HealthChecks = {
  engine: async () => ({ text: "one", warnings: [] }),
  memory: async () => ({ text: "enough", reduced: false }),
  model: () => ({
    wanted: null,
    state: "unwanted",
    folder: null,
    progress: null,
    error: null,
    hint: null,
    nextTryAt: null,
  }),
  database: async () => ({ version: "PostgreSQL", lacksTextIndex: false }),
  storage: async () => {},
  workers: async () => ({ running: 1, waiting: 0 }),
  files: async () => null,
  cleanup: async () => ({
    ownership: { isOwner: true },
    unknown: { files: 0, bytes: 0, oldestSeenAt: null, examples: [] },
  }),
};
