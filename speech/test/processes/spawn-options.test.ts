import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
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

test("onnxruntime stores and sends no reports on its use", () => {
  const home = mkdtempSync(join(tmpdir(), "subtext-home-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const engines = { bundled: true, multilingual: null, bundledTakesEnglish: true, remedy: "" };
  const config = { engines, threads: 1, batchShare: 1, ffmpegPath: null };
  const script = `
    const { InferenceSession } = require("onnxruntime-node");
    const model = require.resolve("@ricky0123/vad-web/dist/silero_vad_v5.onnx");
    InferenceSession.create(model).then((session) => session.release());`;
  execFileSync(process.execPath, ["-e", script], {
    cwd: import.meta.dirname,
    env: { ...environmentFor(config, process.env), HOME: home },
  });
  expect(readdirSync(home, { recursive: true })).toEqual([]);
});
