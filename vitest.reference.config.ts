import { defineConfig } from "vitest/config";

/** Compares the speech engine with transformers.js, which `npm ci` in speech/reference/ installs. */
export default defineConfig({
  test: {
    name: "reference",
    include: ["speech/reference/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
