import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Checkpoint, parseResults } from "../../src/checkpoints/checkpoint.ts";
import type { EngineSelection } from "../../src/engines/registry.ts";
import { SpeechError } from "../../src/errors.ts";
import { knownModel } from "../../src/models/catalog.ts";
import { openModelStore } from "../../src/models/store.ts";
import { createSpeech, type Speech, type SpeechOptions } from "../../src/processes/process-pool.ts";
import type { JobOptions } from "../../src/processes/speech-process.ts";
import type { TranscribeProgress, Transcript } from "../../src/transcript.ts";
import { languageRecording, tinyWhisperModel } from "../support/language-recordings.ts";
import { descendants, descendantsRunning, runs, until } from "../support/processes.ts";
import { ENGLISH, spoken } from "../support/spoken.ts";
import { startTinyModelHub } from "../support/tiny-model-hub.ts";
import { sequence, theChildren, wavFile } from "../support/wav.ts";

const MAIN = "processes/process-main.ts";
const BUNDLED: EngineSelection = {
  bundled: true,
  multilingual: null,
  bundledTakesEnglish: false,
  remedy: "Install a multilingual model.",
};
const TINY = knownModel("whisper-tiny")!;
const TEXT = expect.stringMatching(/^Children played in/);
const signal = new AbortController().signal;
const job = { maxDurationSeconds: 43_200, signal };

const PAUSE_SECONDS = 2.2;
const SENTENCE_SAMPLES = 2.5 * 16_000;

let folder: string;
let short: string;
let long: string;
const opened: Speech[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "speech-child-"));
  short = join(folder, "short.wav");
  writeFileSync(short, wavFile(sequence(0.5, theChildren, 0.5)));
  long = join(folder, "long.wav");
  // Varied, because endless repetition is cut short; in many short utterances, so that the first results come
  // early.
  const beginnings = ENGLISH.map((name) => spoken(name).samples.subarray(0, SENTENCE_SAMPLES));
  const sentences = Array.from({ length: 250 }, (_, index) => [
    beginnings[index % beginnings.length]!,
    PAUSE_SECONDS,
  ]).flat();
  writeFileSync(long, wavFile(sequence(...sentences)));
});
afterAll(() => rmSync(folder, { recursive: true }));

function create(options: Partial<SpeechOptions>): Speech {
  return createSpeech({
    parts: () => BUNDLED,
    processes: 1,
    threads: 1,
    memoryLimitBytes: 1_500_000_000,
    heartbeatTimeoutMs: 30_000,
    ...options,
  });
}

/** Closed at the end of the test. */
function open(options: Partial<SpeechOptions> = {}): Speech {
  const speech = create(options);
  opened.push(speech);
  return speech;
}

/** Whether any speech process recently used at least 20% of a core. */
function isComputing(): boolean {
  const ticks = () => speechProcesses().reduce((sum, pid) => sum + cpuTicks(pid), 0);
  const before = ticks();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  return ticks() - before > 6;
}

/** Hundredths of a second. */
function cpuTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

function speechProcesses(): number[] {
  return descendantsRunning(process.pid, MAIN);
}

async function textOf(speech: Speech, path: string): Promise<string> {
  const result = (await speech.transcribe(path, job)) as Transcript;
  return result.words.map(({ word }) => word).join(" ");
}

/** The long recording, which no test waits for; gives the error that ends it. */
function startLong(speech: Speech, jobSignal = signal): Promise<unknown> {
  return speech.transcribe(long, { ...job, signal: jobSignal }).then(
    () => "it came to its end",
    (error: unknown) => error,
  );
}

/** Decoders of the long recording below a process. */
function decoders(): number[] {
  return descendantsRunning(process.pid, long);
}

async function decoding(): Promise<void> {
  await until(() => decoders().length > 0);
}

describe("speech in a long-lived process", () => {
  const { execPath } = process;
  let speech: Speech;
  let inspector = Promise.withResolvers<string>();

  beforeAll(() => {
    // Signalled, Node opens its inspector, at a port that many programs want; here at one that is free.
    process.execPath = join(folder, "node");
    writeFileSync(process.execPath, `#!/bin/sh\nexec "${execPath}" --inspect-port=0 "$@"\n`);
    chmodSync(process.execPath, 0o755);
    speech = create({
      heartbeatTimeoutMs: 3_000,
      log: (line) => {
        const url = /ws:\S+/.exec(line)?.[0];
        if (url !== undefined) inspector.resolve(url);
      },
    });
  });
  afterAll(async () => {
    process.execPath = execPath;
    await speech.close();
  });

  /** Runs a program in the speech process. */
  async function evaluate(expression: string): Promise<void> {
    inspector = Promise.withResolvers();
    process.kill(speechProcesses()[0]!, "SIGUSR1");
    const socket = new WebSocket(await inspector.promise);
    await once(socket, "open");
    socket.send(JSON.stringify({ id: 1, method: "Runtime.evaluate", params: { expression } }));
  }

  test("a recording is transcribed, and the process is reused for the next one", async () => {
    expect(await textOf(speech, short)).toEqual(TEXT);
    const first = speechProcesses();
    expect(await textOf(speech, short)).toEqual(TEXT);
    expect(speechProcesses()).toEqual(first);
  });

  test("the engines and the decoder can be named", async () => {
    const description = await speech.describe();
    expect(description).toEqual({
      engines: [{ name: "moonshine-tiny", languages: ["en"], warnings: [] }],
      decoder: expect.stringMatching(/^(ffmpeg|node-av) \d/),
    });
  });

  test("an error of the recording crosses the process boundary with its code and message", async () => {
    const path = join(folder, "text.mp4");
    writeFileSync(path, "This is no recording.".repeat(100));
    await expect(speech.transcribe(path, job)).rejects.toMatchObject({
      name: "SpeechError",
      code: "unreadable_media",
      retryable: false,
      message: expect.stringMatching(/\w+/),
    });
  });

  test("the progress of a short recording reaches its end too", async () => {
    const seen: TranscribeProgress[] = [];
    const { path } = languageRecording("english");
    const { duration } = await speech.transcribe(path, {
      ...job,
      onProgress: (progress) => seen.push(progress),
    });
    expect(seen[0]).toEqual({ done: 0, duration, remainingSeconds: null });
    expect(seen.at(-1)).toEqual({ done: duration, duration, remainingSeconds: 0 });
  });

  test("more jobs than processes wait for their turn, and an aborted one leaves the queue", async () => {
    const abort = new AbortController();
    const jobs = [
      textOf(speech, short),
      speech.transcribe(short, { ...job, signal: abort.signal }),
      textOf(speech, short),
    ];
    const outcomes = Promise.allSettled(jobs);
    abort.abort(new Error("deleted"));
    const [first, second, third] = await outcomes;
    expect(first).toMatchObject({ value: TEXT });
    expect(second).toMatchObject({ reason: expect.objectContaining({ message: "deleted" }) });
    expect(third).toMatchObject({ value: TEXT });
    expect(speechProcesses()).toHaveLength(1);
  });

  test("an aborted job ends at once with the signal's reason, and its process takes the next one", async () => {
    const abort = new AbortController();
    const outcome = startLong(speech, abort.signal);
    await decoding();
    const processes = speechProcesses();
    abort.abort(new Error("replaced"));
    expect(await outcome).toMatchObject({ message: "replaced" });
    expect(await textOf(speech, short)).toEqual(TEXT);
    expect(speechProcesses()).toEqual(processes);
  });

  test("a process that is killed costs a retryable error, and the next job succeeds", async () => {
    const outcome = startLong(speech);
    await decoding();
    process.kill(speechProcesses()[0]!, "SIGKILL");
    const error = await outcome;
    expect(error).toBeInstanceOf(SpeechError);
    expect(error).toMatchObject({ code: "engine_crashed", retryable: true });
    await until(() => decoders().length === 0);
    expect(await textOf(speech, short)).toEqual(TEXT);
  });

  test("a process that does not respond is ended within its limit", async () => {
    const outcome = startLong(speech);
    await decoding();
    process.kill(speechProcesses()[0]!, "SIGSTOP");
    expect(await outcome).toMatchObject({ code: "engine_hung", retryable: true });
  });

  test("a process in an endless loop is ended within its limit", async () => {
    // The process that did not respond is gone.
    const outcome = startLong(speech);
    await decoding();
    await evaluate("for (;;);");
    expect(await outcome).toMatchObject({ code: "engine_hung", retryable: true });
  });

  test("a process that grows past its limit in the middle of a job is ended, and the next job succeeds", async () => {
    const outcome = startLong(speech);
    await decoding();
    await evaluate(
      "globalThis.taken = []; setInterval(() => globalThis.taken.push(new Uint8Array(2e7).fill(1)), 1)",
    );
    expect(await outcome).toMatchObject({ code: "engine_out_of_memory", retryable: true });
    expect(await textOf(speech, short)).toEqual(TEXT);
  });

  test.each([
    ["cannot allocate memory", "Array buffer allocation failed", { code: "engine_out_of_memory" }],
    ["has an unexpected error", "a bug", { message: "a bug" }],
  ])("a process that %s is ended, and the next job succeeds", async (_what, message, expected) => {
    await textOf(speech, short);
    await evaluate(
      `globalThis.Float32Array = class { constructor() { throw new RangeError(${JSON.stringify(message)}); } }`,
    );
    expect(await startLong(speech)).toMatchObject(expected);
    expect(await textOf(speech, short)).toEqual(TEXT);
  });
});

describe("speech that each test opens and closes", () => {
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((speech) => speech.close()));
    expect(speechProcesses()).toEqual([]);
  });

  test("an abort in the middle of transcribing stops all work below this process", async () => {
    const speech = open({ threads: 2 });
    const abort = new AbortController();
    const progressed = Promise.withResolvers<void>();
    const onProgress = ({ done }: { done: number }) => done > 0 && progressed.resolve();
    const outcome = speech
      .transcribe(long, { ...job, signal: abort.signal, onProgress })
      .catch((error) => error);
    await progressed.promise;
    abort.abort(new Error("deleted"));
    expect(await outcome).toMatchObject({ message: "deleted" });
    await until(() => decoders().length === 0);
    await until(() => !isComputing());
    expect(await textOf(speech, short)).toEqual(TEXT);
  });

  test("a job without progress is ended although its process responds", async () => {
    // Shorter than any job takes, so that a real job looks like an engine that never returns.
    const stalled = open({ stallTimeoutMs: 1, heartbeatTimeoutMs: 60_000 });
    expect(await startLong(stalled)).toMatchObject({
      code: "engine_hung",
      retryable: true,
      message: expect.stringContaining("made no progress"),
    });
    await until(() => decoders().length === 0);
  });

  test("a process that exceeds its memory limit is ended", async () => {
    const outcome = open({ memoryLimitBytes: 150_000_000 }).transcribe(short, job);
    await expect(outcome).rejects.toMatchObject({ code: "engine_out_of_memory", retryable: true });
  });

  test("an engine that cannot be loaded is reported as such", async () => {
    const multilingual = { kind: "whisper" as const, folder: join(folder, "no-model") };
    const outcome = open({ parts: () => ({ ...BUNDLED, multilingual }) }).describe();
    await expect(outcome).rejects.toMatchObject({ code: "model_unusable", retryable: true });
  });

  test("new engines are used from the next job on, and a job under way is not disturbed", async () => {
    let parts = BUNDLED;
    const speech = open({ parts: () => parts });
    const underWay = textOf(speech, short);
    await until(() => speechProcesses().length === 1);
    const before = speechProcesses();
    parts = { ...BUNDLED, multilingual: { kind: "whisper", folder: join(folder, "no-model") } };
    speech.renew();
    expect(await underWay).toEqual(TEXT);
    await expect(speech.transcribe(short, job)).rejects.toMatchObject({ code: "model_unusable" });
    parts = BUNDLED;
    speech.renew();
    expect(await textOf(speech, short)).toEqual(TEXT);
    expect(speechProcesses()).not.toEqual(before);
  });

  test("a model of several languages transcribes each segment of a recording in its own", async () => {
    const multilingual = { kind: "whisper" as const, folder: tinyWhisperModel };
    const speech = open({
      parts: () => ({ ...BUNDLED, multilingual, bundledTakesEnglish: true }),
      threads: 2,
    });
    expect((await speech.describe()).engines.map(({ languages }) => languages)).toEqual([
      expect.arrayContaining(["es", "pt", "en", "fr"]),
      ["en"],
    ]);
    const { path, languages } = languageRecording("mixed");
    const result = (await speech.transcribe(path, job)) as Transcript;
    expect(result.languageSegments.map(({ language }) => language)).toEqual(languages);
  });

  test("the speed of an installed model is measured, unless a recording is resumed", async () => {
    const hub = await startTinyModelHub(TINY);
    onTestFinished(() => hub.stop());
    const store = openModelStore({ folder: join(folder, "models") });
    await store.install(TINY, { hub: { url: hub.url, token: null }, signal });
    const multilingual = { kind: "whisper" as const, folder: join(folder, "models", TINY.name) };
    const measured = join(multilingual.folder, "speed.json");
    const { path } = languageRecording("mixed");
    const transcribe = async (options: Partial<JobOptions>) => {
      const speech = create({ parts: () => ({ ...BUNDLED, bundled: false, multilingual }), threads: 2 });
      try {
        return (await speech.transcribe(path, { ...job, ...options })) as Transcript;
      } finally {
        await speech.close();
      }
    };
    const empty: Checkpoint = { settledSeconds: 0, results: "" };
    await transcribe({ checkpoints: [empty] });
    expect(existsSync(measured)).toBe(false);
    const { speechSeconds, stages } = await transcribe({});
    expect(JSON.parse(readFileSync(measured, "utf8"))).toMatchObject({
      speechSeconds,
      workSeconds: stages.engine,
    });
  });

  test("idle processes end when there are new engines", async () => {
    const speech = open();
    await textOf(speech, short);
    speech.renew();
    await until(() => speechProcesses().length === 0);
  });

  test("two processes work on two recordings at once", async () => {
    const speech = open({ processes: 2 });
    const jobs = Promise.all([textOf(speech, short), textOf(speech, short)]);
    await until(() => speechProcesses().length === 2);
    expect(await jobs).toEqual(Array(2).fill(TEXT));
  });

  test("the checkpoints of a killed process are used by the next one", async () => {
    const checkpoints: Checkpoint[] = [];
    const speech = open({ checkpointIntervalSeconds: 0 });
    const run = (onCheckpoint: (checkpoint: Checkpoint) => void) =>
      speech.transcribe(short, { ...job, checkpoints, onCheckpoint });
    const killed = run((checkpoint) => {
      checkpoints.push(checkpoint);
      for (const pid of speechProcesses()) process.kill(pid, "SIGKILL");
    });
    await expect(killed).rejects.toMatchObject({ code: "engine_crashed" });
    const reported: Checkpoint[] = [];
    const { words } = (await run((checkpoint) => reported.push(checkpoint))) as Transcript;
    expect(words.map(({ word }) => word).join(" ")).toEqual(TEXT);
    const speechIn = (list: Checkpoint[]) => list.flatMap(({ results }) => parseResults(results)!.speech);
    expect(speechIn(checkpoints)).toHaveLength(1);
    expect(speechIn(reported)).toEqual([]);
  });

  test("an idle process ends to free memory, and the next job starts another", async () => {
    const speech = open({ idleMs: 100 });
    await textOf(speech, short);
    await until(() => speechProcesses().length === 0);
    expect(await textOf(speech, short)).toEqual(TEXT);
  });

  test("a process that is started early takes the next job", async () => {
    const speech = open({ processes: 2 });
    await speech.start();
    // `spawn` returns before the kernel has set the command line.
    await until(() => speechProcesses().length > 0);
    const started = speechProcesses();
    expect(started).toHaveLength(1);
    await speech.start();
    expect(await textOf(speech, short)).toEqual(TEXT);
    expect(speechProcesses()).toEqual(started);
  });

  test("closing ends the job under way and every process", async () => {
    const speech = open();
    const outcome = startLong(speech);
    await decoding();
    await speech.close();
    expect(await outcome).toMatchObject({ message: "Speech is closed." });
    expect(speechProcesses()).toEqual([]);
    await until(() => decoders().length === 0);
    await expect(speech.transcribe(short, job)).rejects.toThrow("Speech is closed.");
  });

  test("when the service is killed, its speech process and their decoders end too", async () => {
    const service = fileURLToPath(new URL("../fixtures/processes/service.ts", import.meta.url));
    const parent = spawn(process.execPath, [service, long], { stdio: "inherit" });
    let orphans: number[] = [];
    await until(() => {
      orphans = descendants(parent.pid!);
      return orphans.length > 1;
    });
    parent.kill("SIGKILL");
    await until(() => !orphans.some(runs));
  });
});
