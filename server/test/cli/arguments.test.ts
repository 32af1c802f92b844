import { expect, test } from "vitest";
import { environmentParams } from "../../src/cli/arguments.ts";
import type { InternalClient } from "../../src/cli/internal-client.ts";
import { counted } from "../../src/cli/text.ts";

test("an environment is found by its id even if another environment has this id as its name", async () => {
  const environments = [
    { id: "env_1", name: "env_2" },
    { id: "env_2", name: "Production" },
  ];
  const client = { send: async () => ({ data: environments }) } as unknown as InternalClient;
  expect(await environmentParams(client, "env_2")).toEqual({ environment: "env_2" });
  expect(await environmentParams(client, "Production")).toEqual({ environment: "env_2" });
  await expect(environmentParams(client, undefined)).rejects.toThrow("Available: env_2, Production");
});

test("a number has a singular noun only if it is 1", () => {
  expect([0, 1, 2_000].map((count) => counted(count, "video"))).toEqual([
    "0 videos",
    "1 video",
    "2,000 videos",
  ]);
});
