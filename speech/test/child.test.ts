import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createSpeech, type Speech, type SpeechOptions } from "../src/child/supervise.ts";
import { SpeechError } from "../src/errors.ts";
import type { Transcript } from "../src/transcript.ts";
import { descendants, descendantsRunning, runs, until } from "./processes.ts";
import { sequence, theChildren, theWeather, wavFile } from "./wav.ts";

const MAIN = "child/main.ts";
const TEXT = expect.stringMatching(/^Children played in/);
const signal = new AbortController().signal;
const job = { maxDurationSeconds: 43_200, signal };

let folder: string;
let short: string;
let long: string;
const opened: Speech[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "speech-child-"));
  short = join(folder, "short.wav");
  writeFileSync(short, wavFile(sequence(0.5, theChildren, 0.5)));
  long = join(folder, "long.wav");
  const sentences = Array.from({ length: 300 }, () => [theWeather, 0.3, theChildren, 0.7]).flat();
  writeFileSync(long, wavFile(sequence(...sentences)));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((speech) => speech.close()));
  expect(descendantsRunning(process.pid, MAIN)).toEqual([]);
});
afterAll(() => rmSync(folder, { recursive: true }));

function open(options: Partial<SpeechOptions> = {}): Speech {
  const speech = createSpeech({
    engine: "moonshine",
    processes: 1,
    threads: 1,
    memoryLimitBytes: 1_500_000_000,
    heartbeatTimeoutMs: 30_000,
    ...options,
  });
  opened.push(speech);
  return speech;
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

test("a recording is transcribed, and the process stays for the next one", async () => {
  const speech = open();
  expect(await textOf(speech, short)).toEqual(TEXT);
  const first = speechProcesses();
  expect(await textOf(speech, short)).toEqual(TEXT);
  expect(speechProcesses()).toEqual(first);
});

test("the engine and the decoder can be named", async () => {
  const description = await open().describe();
  expect(description).toEqual({
    engine: "moonshine-tiny",
    languages: ["en"],
    decoder: expect.stringMatching(/^(ffmpeg|node-av) \d/),
  });
});

test("a process that is killed costs a retryable error, and the next job succeeds", async () => {
  const speech = open();
  const outcome = startLong(speech);
  await decoding();
  process.kill(speechProcesses()[0]!, "SIGKILL");
  const error = await outcome;
  expect(error).toBeInstanceOf(SpeechError);
  expect(error).toMatchObject({ code: "engine_crashed", retryable: true });
  await until(() => decoders().length === 0);
  expect(await textOf(speech, short)).toEqual(TEXT);
});

test("a process that stands still is ended within its limit", async () => {
  const speech = open({ heartbeatTimeoutMs: 3_000 });
  const outcome = startLong(speech);
  await decoding();
  process.kill(speechProcesses()[0]!, "SIGSTOP");
  expect(await outcome).toMatchObject({ code: "engine_hung", retryable: true });
  expect(await textOf(speech, short)).toEqual(TEXT);
});

test("a process that takes more memory than it may is ended", async () => {
  const outcome = open({ memoryLimitBytes: 150_000_000 }).transcribe(short, job);
  await expect(outcome).rejects.toMatchObject({ code: "engine_out_of_memory", retryable: true });
});

test("an engine that can not be loaded is told as such", async () => {
  const outcome = open({ engine: "none" as "moonshine" }).describe();
  await expect(outcome).rejects.toMatchObject({ code: "model_unusable", retryable: true });
});

test("an error of the recording crosses the border with its code and message", async () => {
  const path = join(folder, "text.mp4");
  writeFileSync(path, "This is no recording.".repeat(100));
  await expect(open().transcribe(path, job)).rejects.toMatchObject({
    name: "SpeechError",
    code: "unreadable_media",
    retryable: false,
    message: expect.stringMatching(/\w+/),
  });
});

test("an aborted job ends at once with the signal's reason, and its process takes the next one", async () => {
  const speech = open();
  const abort = new AbortController();
  const outcome = startLong(speech, abort.signal);
  await decoding();
  const processes = speechProcesses();
  abort.abort(new Error("replaced"));
  expect(await outcome).toMatchObject({ message: "replaced" });
  expect(await textOf(speech, short)).toEqual(TEXT);
  expect(speechProcesses()).toEqual(processes);
});

test("more jobs than processes wait for their turn, and an aborted one leaves the queue", async () => {
  const speech = open();
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

test("two processes work on two recordings at once", async () => {
  const speech = open({ processes: 2 });
  const jobs = Promise.all([textOf(speech, short), textOf(speech, short)]);
  await until(() => speechProcesses().length === 2);
  expect(await jobs).toEqual(Array(2).fill(TEXT));
});

test("a process without work gives its memory back, and the next job starts another", async () => {
  const speech = open({ idleMs: 100 });
  await textOf(speech, short);
  await until(() => speechProcesses().length === 0);
  expect(await textOf(speech, short)).toEqual(TEXT);
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
  const service = fileURLToPath(new URL("fixtures/child/service.ts", import.meta.url));
  const parent = spawn(process.execPath, [service, long], { stdio: "inherit" });
  let orphans: number[] = [];
  await until(() => {
    orphans = descendants(parent.pid!);
    return orphans.length > 1;
  });
  parent.kill("SIGKILL");
  await until(() => !orphans.some(runs));
});
