import { existsSync } from "node:fs";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";

const SERVER = "server/test/**/*.test.ts";
/** Slow tests, such as upgrades, long property tests and killed processes: `npm run test:slow` runs them. */
const SLOW = "**/*.slow.test.ts";

/**
 * Server tests that do not depend on TEST_DATABASE_URL, because they use only the embedded database or none. If it is set,
 * they are excluded, because they have run without it.
 */
const DATABASE_INDEPENDENT = [
  "admin/dashboard-pages",
  "admin/transcript-words",
  "api/files",
  "cli/cli.slow",
  "cli/model-commands",
  "cli/setup.slow",
  "cli/transcribe",
  "config/config",
  "db/durability.slow",
  "db/embedded",
  "db/maintenance",
  "db/migrate-command.slow",
  "docs/commands.slow",
  "docs/shapes",
  "docs/site",
  "docs/webhooks",
  "health/doctor",
  "health/readiness",
  "http/problems",
  "http/proxies.slow",
  "http/validate",
  "lib/batcher",
  "lib/metadata",
  "search/search-text",
  "speech/languages.slow",
  "speech/model-arrives.slow",
  "speech/models",
  "storage/disk-transcript-store",
  "telemetry/cached-query",
  "transcription/failure-codes",
  "upgrade/upgrade-embedded.slow",
  "uploads/upload-locker",
  "videos/media-type",
  "webhooks/guard-url",
  "webhooks/post",
  "webhooks/post-security",
  "webhooks/resolve-host",
  "webhooks/schedule",
  "webhooks/sign",
].map((name) => `server/test/${name}.test.ts`);
const missing = DATABASE_INDEPENDENT.filter((file) => !existsSync(join(import.meta.dirname, file)));
if (missing.length > 0)
  throw new Error(`vitest.config.ts excludes files that do not exist: ${missing.join(", ")}`);
const excluded = process.env.TEST_DATABASE_URL ? DATABASE_INDEPENDENT : [];

export default defineConfig({
  test: {
    globalSetup: ["test/support/skip-hints.ts", "server/test/support/template-data-folder.ts"],
    // On two cores, a third worker only makes the engine and the database compete for CPU time.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Tests start hundreds of processes. Without a cache, each would strip the types of the same sources and compile them.
    env: {
      NODE_COMPILE_CACHE:
        process.env.NODE_COMPILE_CACHE ?? join(import.meta.dirname, "node_modules/.cache/compiled"),
      // For tests that load models in the test process itself.
      ORT_DISABLE_TELEMETRY: "1",
    },
    projects: [
      {
        test: {
          name: "packages",
          include: ["*/test/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, SERVER, SLOW],
        },
      },
      {
        test: {
          name: "server",
          include: [SERVER],
          exclude: [...configDefaults.exclude, SLOW, ...excluded],
          // Loading the service and compiling its embedded database takes longer than running most of these files,
          // so the files of a worker share both.
          isolate: false,
        },
      },
      { test: { name: "slow", include: [SLOW], exclude: [...configDefaults.exclude, ...excluded] } },
    ],
  },
});
