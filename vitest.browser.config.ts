import { defineConfig } from "vitest/config";

/** Tests that need a real Chromium; Debian's package `chromium` is what CI uses. */
export default defineConfig({
  test: {
    include: ["*/test/**/*.browser.ts"],
    globalSetup: ["server/test/support/template-data-folder.ts", "dashboard/test/build-dashboard.ts"],
    // Two cores: while one page waits for its service, the other is drawn.
    maxWorkers: 2,
    // The files of a worker load the service once.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // As long as playwright waits by itself.
    expect: { poll: { timeout: 30_000 } },
  },
});
