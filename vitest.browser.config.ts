import { defineConfig } from "vitest/config";

/** Tests that need a real Chromium; Debian's package `chromium` is what CI uses. */
export default defineConfig({
  test: {
    include: ["*/test/**/*.browser.ts"],
    globalSetup: ["server/test/support/made-data-folder.ts", "dashboard/test/build-dashboard.ts"],
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // As long as playwright waits by itself.
    expect: { poll: { timeout: 30_000 } },
  },
});
