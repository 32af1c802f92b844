import { expect, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { diagnose, type Patients } from "../src/doctor.ts";
import { HEALTHY_PATIENTS } from "./support/healthy-patients.ts";
import { temporaryFolder } from "./support/service.ts";

async function findingsOfEngine(engine: Patients["engine"]) {
  const config = readConfig({ DATA_DIR: await temporaryFolder() });
  const findings = await diagnose(config, { ...HEALTHY_PATIENTS, engine });
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
