import { expect, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { diagnose, type Patients } from "../src/doctor.ts";
import type { ModelsState } from "../src/models.ts";
import { temporaryFolder } from "./support/service.ts";

const UNWANTED: ModelsState = {
  wanted: null,
  state: "unwanted",
  folder: null,
  progress: null,
  error: null,
  hint: null,
  nextTryAt: null,
};

async function findingsOfEngine(engine: Patients["engine"]) {
  const config = readConfig({ DATA_DIR: await temporaryFolder() });
  const findings = await diagnose(config, {
    engine,
    model: () => UNWANTED,
    database: async () => "PostgreSQL",
    storage: async () => {},
    files: async () => null,
  });
  return findings.filter(({ name }) => name === "engine");
}

test("the doctor tells what a loaded engine does less well here", async () => {
  const loaded = { text: "whisper-small (99 languages)", warnings: [] };
  expect(await findingsOfEngine(async () => loaded)).toEqual([
    { name: "engine", status: "ok", detail: "whisper-small (99 languages)", remedy: null },
  ]);
  const warnings = ["Word times are about right only."];
  expect(await findingsOfEngine(async () => ({ ...loaded, warnings }))).toEqual([
    {
      name: "engine",
      status: "warning",
      detail: "whisper-small (99 languages); Word times are about right only.",
      remedy: null,
    },
  ]);
});

test("the doctor tells what to do about an engine that does not load", async () => {
  const findings = await findingsOfEngine(() => Promise.reject(new Error("The model is cut off.")));
  expect(findings).toEqual([
    { name: "engine", status: "missing", detail: "The model is cut off.", remedy: expect.any(String) },
  ]);
});
