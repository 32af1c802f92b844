import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["*/test/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["server/test/support/made-data-folder.ts"],
    // Two cores: a third worker only makes the engine and the database wait for each other.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
