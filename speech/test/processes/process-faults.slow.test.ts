import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { EngineSelection } from "../../src/engines/registry.ts";
import { SpeechError } from "../../src/errors.ts";
import { createSpeech, type SpeechOptions } from "../../src/processes/process-pool.ts";
import {
  descendantsRunning,
  FAILING_NATIVE_CODE,
  nodeWithPreload,
  preloadInChildren,
  runs,
  until,
} from "../support/processes.ts";
import { sequence, theChildren, wavFile } from "../support/wav.ts";

const BUNDLED: EngineSelection = {
  bundled: true,
  multilingual: null,
  bundledTakesEnglish: false,
  remedy: "",
};
const job = { maxDurationSeconds: 60, signal: new AbortController().signal };

function open(parts: () => EngineSelection, options: Partial<SpeechOptions> = {}) {
  return createSpeech({
    parts,
    processes: 1,
    threads: 1,
    memoryLimitBytes: 1_500_000_000,
    heartbeatTimeoutMs: 30_000,
    ...options,
  });
}

test("every job fails if no engine can be chosen, and none waits for the one before", async () => {
  const speech = open(() => {
    throw new SpeechError("model_not_found", "There is no multilingual model.");
  });
  await expect(speech.transcribe("/none.wav", job)).rejects.toMatchObject({ code: "model_not_found" });
  await expect(speech.transcribe("/none.wav", job)).rejects.toMatchObject({ code: "model_not_found" });
  await speech.close();
});

test("a job that was just begun starts no process after closing", async () => {
  const speech = open(() => BUNDLED);
  const outcome = speech.transcribe("/none.wav", job).catch((error: unknown) => error);
  const description = speech.describe().catch((error: unknown) => error);
  await speech.close();
  expect(await outcome).toMatchObject({ message: "Speech is closed." });
  expect(await description).toMatchObject({ message: "Speech is closed." });
  expect(descendantsRunning(process.pid, "processes/process-main.ts")).toEqual([]);
});

test("a thread of the engine that ends costs one attempt: the next job has a new process", async () => {
  const folder = mkdtempSync(join(tmpdir(), "speech-faults-"));
  const path = join(folder, "short.wav");
  writeFileSync(path, wavFile(sequence(0.5, theChildren, 0.5)));
  endEngineThreads(folder);
  const speech = open(() => BUNDLED);
  onTestFinished(async () => {
    await speech.close();
    rmSync(folder, { recursive: true });
  });
  await speech.describe();
  writeFileSync(join(folder, "end"), "");
  await expect(speech.transcribe(path, job)).rejects.toMatchObject({ code: "engine_crashed" });
  expect(await speech.transcribe(path, job)).toMatchObject({ outcome: "transcribed", language: "en" });
});

test("an engine whose native code cannot be loaded fails with the reason", async () => {
  const folder = mkdtempSync(join(tmpdir(), "speech-faults-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  preloadInChildren(folder, FAILING_NATIVE_CODE);
  const speech = open(() => BUNDLED);
  onTestFinished(() => speech.close());
  await expect(speech.describe()).rejects.toMatchObject({
    code: "engine_crashed",
    message: "The engine cannot be loaded: libc.so.6: version `GLIBC_9.9' not found",
  });
});

test("an engine that never comes to its end of loading is given up, and keeps no job waiting", async () => {
  const folder = mkdtempSync(join(tmpdir(), "speech-faults-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const graph of ["encoder_model", "decoder_model_merged"]) {
    writeFileSync(join(folder, `${graph}.onnx`), Uint8Array.of(8));
  }
  // Nobody writes into it: to read it is to wait.
  execFileSync("mkfifo", [join(folder, "config.json")]);
  const speech = open(() => ({ ...BUNDLED, multilingual: { kind: "whisper", folder } }), {
    loadTimeoutMs: 1_000,
  });
  await expect(speech.transcribe("/none.wav", job)).rejects.toMatchObject({ code: "engine_hung" });
  await speech.close();
});

test("a process in which Node.js has not started yet has the time that loading has, not that between heartbeats", async () => {
  const folder = mkdtempSync(join(tmpdir(), "speech-faults-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  preloadInChildren(folder, "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);");
  const speech = open(() => BUNDLED, { heartbeatTimeoutMs: 1, loadTimeoutMs: 1_000 });
  await expect(speech.transcribe("/none.wav", job)).rejects.toThrow("The engine did not load within 1 s.");
  await speech.close();
});

test.skipIf(spawnSync("setpriv", ["--version"]).error)(
  "a speech process that hangs while Node.js starts ends with the service",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "speech-faults-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const pidFile = join(folder, "pid");
    const node = nodeWithPreload(
      folder,
      `import { writeFileSync } from "node:fs";
       writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`,
    );
    const service = join(folder, "service.ts");
    const pool = join(import.meta.dirname, "../../src/processes/process-pool.ts");
    writeFileSync(
      service,
      `import { createSpeech } from ${JSON.stringify(pool)};
       process.execPath = ${JSON.stringify(node)};
       const parts = () => (${JSON.stringify(BUNDLED)});
       const limits = { memoryLimitBytes: 1e9, heartbeatTimeoutMs: 1e6 };
       await createSpeech({ parts, processes: 1, threads: 1, ...limits }).describe();`,
    );
    const parent = spawn(process.execPath, [service], { stdio: "ignore" });
    await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8") !== "");
    const hanging = Number(readFileSync(pidFile, "utf8"));
    onTestFinished(() => void (runs(hanging) && process.kill(hanging, "SIGKILL")));
    parent.kill("SIGKILL");
    await until(() => !runs(hanging));
  },
);

/** Lets the thread of an engine end by itself, as one without memory does, once there is a file `end`. */
function endEngineThreads(folder: string): void {
  preloadInChildren(
    folder,
    `import { existsSync, rmSync } from "node:fs";
     import { workerData } from "node:worker_threads";
     const end = ${JSON.stringify(join(folder, "end"))};
     const exitOnRequest = () => {
       if (!existsSync(end)) return;
       rmSync(end);
       process.exit(1);
     };
     if (workerData?.kind === "engine") setInterval(exitOnRequest, 10);`,
  );
}
