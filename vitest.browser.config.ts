import { defineConfig } from "vitest/config";

/** Tests that need a real Chromium. CI uses Debian's package `chromium`. */
export default defineConfig({
  test: {
    include: ["*/test/**/*.browser.ts"],
    globalSetup: ["server/test/support/template-data-folder.ts", "dashboard/test/build-dashboard.ts"],
    // On two cores, one page is rendered while the other waits for its service.
    maxWorkers: 2,
    // The files of a worker load the service once.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Playwright's default timeout.
    expect: { poll: { timeout: 30_000 } },
  },
});
