import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";

const SERVER = "server/test/**/*.test.ts";
/** Upgrades from old versions, long property runs, documented commands, killed processes: `npm run test:slow`. */
const SLOW = "**/*.slow.test.ts";

/**
 * What is only about the embedded database, the command line, the documentation or the disk, or opens no store at all:
 * with TEST_DATABASE_URL it would run the same again.
 */
const EMBEDDED_ONLY = [
  ...[
    "cli/{cli.slow,model-commands,setup.slow,transcribe}",
    "config/config",
    "docs/{commands.slow,shapes,site,webhooks}",
    "health/{doctor,readiness}",
    "lib/{batcher,metadata}",
  ],
  ...["admin/{dashboard-pages,transcript-words}", "api/files", "http/{problems,proxies.slow,validate}"],
  ...["db/{durability.slow,embedded,maintenance,migrate-command.slow}", "upgrade/upgrade-embedded.slow"],
  ...[
    "search/search-text",
    "speech/{languages.slow,model-arrives.slow,models}",
    "storage/disk-transcript-store",
  ],
  ...[
    "telemetry/metrics-looked-up",
    "transcription/failure-codes",
    "uploads/upload-locker",
    "videos/media-type",
  ],
  "webhooks/{guard-url,post,post-security,resolve-host,schedule,sign}",
].map((name) => `server/test/${name}.test.ts`);
const elsewhere = process.env.TEST_DATABASE_URL ? EMBEDDED_ONLY : [];

export default defineConfig({
  test: {
    globalSetup: ["test/support/skip-hints.ts", "server/test/support/template-data-folder.ts"],
    // Two cores: a third worker only makes the engine and the database wait for each other.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The hundreds of processes that tests start would each strip and compile the same sources.
    env: {
      NODE_COMPILE_CACHE:
        process.env.NODE_COMPILE_CACHE ?? join(import.meta.dirname, "node_modules/.cache/compiled"),
      // For tests that load models in their own process.
      ORT_DISABLE_TELEMETRY: "1",
    },
    projects: [
      {
        test: {
          name: "rooms",
          include: ["*/test/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, SERVER, SLOW],
        },
      },
      {
        test: {
          name: "server",
          include: [SERVER],
          exclude: [...configDefaults.exclude, SLOW, ...elsewhere],
          // To load the service and to compile its embedded database takes longer than most of these files take
          // for the rest: those that a worker runs share both.
          isolate: false,
        },
      },
      { test: { name: "slow", include: [SLOW], exclude: [...configDefaults.exclude, ...elsewhere] } },
    ],
  },
});
