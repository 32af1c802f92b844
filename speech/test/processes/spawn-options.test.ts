import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { environmentFor, heapFlags } from "../../src/processes/spawn-options.ts";

test("the V8 that runs here takes the flags that it is given", () => {
  expect(
    execFileSync(process.execPath, [...heapFlags(), "-p", "process.versions.v8"], { encoding: "utf8" }),
  ).toBe(`${process.versions.v8}\n`);
});

test("a V8 with which nothing was measured is given no flags: one that it does not know would end it", () => {
  for (const version of ["11.3.244.8-node.35", "12.4.254.21-node.33", "14.1.146.11-node.14"]) {
    expect(heapFlags(version)).toEqual([]);
  }
  expect(heapFlags("13.6.233.17-node.53").length).toBeGreaterThan(0);
});

describe("onnxruntime stores and sends no reports on its use", () => {
  test("in a speech process", () => {
    const engines = { bundled: true, multilingual: null, bundledTakesEnglish: true, remedy: "" };
    const config = { engines, threads: 1, batchShare: 1, ffmpegPath: null };
    const script = `
      const { InferenceSession } = require("onnxruntime-node");
      const model = require.resolve("@ricky0123/vad-web/dist/silero_vad_v5.onnx");
      InferenceSession.create(model).then((session) => session.release());`;
    expect(filesInHomeAfter(["-e", script], environmentFor(config, process.env))).toEqual([]);
  });

  test("in the service, which measures the machine's speed", () => {
    const worker = JSON.stringify(join(import.meta.dirname, "../../src/processes/model-worker.ts"));
    const script = `import(${worker}).then((module) => module.measureEncoderSpeedInWorker(1));`;
    const { ORT_DISABLE_TELEMETRY: _, ...env } = process.env;
    expect(filesInHomeAfter(["-e", script], env)).toEqual([]);
  });
});

/** Runs Node.js with an empty home directory and returns the files that are there afterward. */
function filesInHomeAfter(args: readonly string[], env: NodeJS.ProcessEnv): string[] {
  const home = mkdtempSync(join(tmpdir(), "subtext-home-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  execFileSync(process.execPath, args, { cwd: import.meta.dirname, env: { ...env, HOME: home } });
  return readdirSync(home, { recursive: true, encoding: "utf8" });
}
