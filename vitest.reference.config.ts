import { defineConfig } from "vitest/config";

/** Tests that need packages outside of the workspaces: `npm ci` in speech/reference/ and client/generators/ installs them. */
export default defineConfig({
  test: {
    name: "reference",
    include: ["speech/reference/*.test.ts", "client/generators/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
