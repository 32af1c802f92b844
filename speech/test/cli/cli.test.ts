import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { paragraphsOf } from "../../src/cli/outcome.ts";
import { runCommandLine } from "../../src/cli/program.ts";
import { showTranscription } from "../../src/cli/transcription-display.ts";
import { KNOWN_MODELS } from "../../src/models/catalog.ts";
import type { MemoryLimit } from "../../src/processes/memory-limit.ts";
import { languageRecording, tinyWhisperModel } from "../support/language-recordings.ts";
import { decoders } from "../support/media-decoding.ts";
import { descendantsRunning, until } from "../support/processes.ts";
import { steps, writeMadeWhisper } from "../support/synthetic-whisper/made-whisper.ts";
import { startTinyModelHub } from "../support/tiny-model-hub.ts";
import { startTranscriptionServer } from "../support/transcription-servers.ts";
import { sequence, theChildren, theWeather, wavFile } from "../support/wav.ts";

const PROGRAM = fileURLToPath(new URL("../../bin/subtext-speech.js", import.meta.url));

const videoOnly = fileURLToPath(new URL("../fixtures/media/video-only.mp4", import.meta.url));
const spanish = languageRecording("spanish");
const TINY = KNOWN_MODELS[0]!;

let folder: string;
let short: string;
const children: ChildProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "speech-cli-"));
  short = join(folder, "children.wav");
  writeFileSync(short, wavFile(sequence(0.5, theChildren, 2.5, theWeather, 0.5)));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Outcome {
  exitCode: number | null;
  out: string;
  err: string;
}

interface Run {
  env?: Record<string, string>;
  cwd?: string;
}

/** Starts the program without a terminal, and with only the models that the test installs. */
function start(args: readonly string[], { env = {}, cwd = folder }: Run = {}) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: { PATH: process.env.PATH, XDG_CACHE_HOME: join(folder, "cache"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  const seen = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    seen.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    seen.err += chunk;
  });
  const ended = once(child, "close").then(([exitCode]): Outcome => ({ exitCode, ...seen }));
  return { child, ended };
}

/** With one thread: each further one loads a copy of the bundled model. */
const run = (args: readonly string[], options?: Run) => start(["--threads", "1", ...args], options).ended;

/** The same in this process, for commands that start no engine. */
async function call(
  args: readonly string[],
  env: Record<string, string> = {},
  memoryLimit: MemoryLimit | null = null,
): Promise<Outcome> {
  const seen = { out: "", err: "" };
  const exitCode = await runCommandLine(args, {
    env: { XDG_CACHE_HOME: join(folder, "cache"), ...env },
    out: (text) => {
      seen.out += text;
    },
    err: (text) => {
      seen.err += text;
    },
    errColumns: () => null,
    memoryLimit: () => memoryLimit,
  });
  return { exitCode, ...seen };
}

test("a recording is not begun if its speech process does not fit into memory", async () => {
  const limit = { bytes: 300_000_000, source: "the memory limit of its container" };
  const { exitCode, out, err } = await call([short], {}, limit);
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
  expect(err).toMatch(
    /insufficient_memory: Transcription needs \d+ MiB of memory, but the memory limit of its/,
  );
});

describe("recordings", () => {
  test("are written as text only, one paragraph for each segment between pauses", async () => {
    const { exitCode, out, err } = await run([short]);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
    expect(out).toMatch(/^Children played in [^\n]+\n\n[^\n]+\n$/);
  });

  test("are processed in order, also after a failure, each with its outcome", async () => {
    execFileSync("mkfifo", [join(folder, "pipe.wav")]);
    const files = ["gone.wav", ".", "pipe.wav", videoOnly, spanish.path, "children.wav"];
    const { exitCode, out, err } = await run(["--json", ...files]);
    expect(exitCode).toBe(1);
    const [gone, directory, pipe, silent, foreign, transcribed, ...more] = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(more).toEqual([]);
    expect(gone).toEqual({
      file: "gone.wav",
      outcome: "failed",
      error: { code: "ENOENT", message: "no such file or directory" },
    });
    const unsupported = (message: string) => ({ error: { code: "unsupported_media", message } });
    expect(directory).toMatchObject(unsupported("This is a folder, not a file."));
    expect(pipe).toMatchObject(unsupported("This is a pipe, a socket or a device, not a file."));
    expect(silent).toEqual({
      file: videoOnly,
      outcome: "skipped",
      reason: "no_audio_track",
      duration: expect.any(Number),
    });
    expect(foreign).toMatchObject({ outcome: "failed", error: { code: "language_unsupported" } });
    expect(foreign.error.message).toContain("`npx subtext-speech models pull whisper-small`");
    expect(transcribed).toMatchObject({ file: "children.wav", outcome: "transcribed", language: "en" });
    expect(Object.keys(transcribed)).toEqual([
      "file",
      "outcome",
      "language",
      "duration",
      "words",
      "languageSegments",
      "engine",
      "decoder",
      "incomplete",
    ]);
    expect(transcribed.words[0]).toEqual({
      word: "Children",
      start: expect.closeTo(0.6, 0),
      end: expect.any(Number),
      confidence: expect.any(Number),
    });
    expect(err.split("\n")).toEqual([
      "subtext-speech: gone.wav: ENOENT: no such file or directory",
      "subtext-speech: .: unsupported_media: This is a folder, not a file.",
      "subtext-speech: pipe.wav: unsupported_media: This is a pipe, a socket or a device, not a file.",
      `subtext-speech: ${videoOnly}: nothing to transcribe: no_audio_track`,
      `subtext-speech: ${spanish.path}: language_unsupported: ${foreign.error.message}`,
      "",
    ]);
  });

  test("without an audio track are no failure, and --quiet suppresses remarks", async () => {
    expect(await run(["--quiet", "--server", "http://127.0.0.1:9", videoOnly])).toEqual({
      exitCode: 0,
      out: "",
      err: "",
    });
  });

  test("are transcribed with the model that --model names, a word a line", async () => {
    const { exitCode, out, err } = await run(["--words", "--model", "./model", spanish.path, short], {
      cwd: modelBeside("model"),
    });
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t"));
    const recognized = lines.filter(([file]) => file === spanish.path);
    const said = spanish.sentences.flatMap(({ words }) => words);
    expect(Math.abs(recognized.length - said.length)).toBeLessThanOrEqual(2);
    const [, start, end, word] = recognized[0]!;
    expect(word?.toLowerCase()).toBe(said[0]!.word.toLowerCase());
    expect(start).toMatch(/^\d+\.\d{3}$/);
    expect(Number(end)).toBeGreaterThan(Number(start));
    expect(lines.some(([file]) => file === short)).toBe(true);
  });

  test("are transcribed with the model that is installed, and what it does less well is reported", async () => {
    const modelsFolder = mkdtempSync(join(folder, "models-"));
    await writeMadeWhisper(join(modelsFolder, "whisper-medium"), {
      attention: "fused",
      promptTokens: 3,
      scripts: [{ says: steps(["<|0.40|>", " Hola", " mundo", "<|1.00|>"], 0.95), detects: { "<|es|>": 1 } }],
    });
    const { exitCode, out, err } = await run([short], { env: { MODELS_DIR: modelsFolder } });
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^Hola mundo/);
    expect(err).toMatch(/^subtext-speech: [^\n]+ has no cross-attention outputs, [^\n]+\n$/);
  });

  test("are transcribed by servers, which get their key from the environment", async () => {
    const words = [
      { word: "Bonjour", start: 0.2, end: 0.6 },
      { word: "monde", start: 0.7, end: 1.1 },
    ];
    const server = await startTranscriptionServer({
      responder: () => ({ language: "french", text: "Bonjour monde.", words, segments: [], duration: 3 }),
      apiKey: "secret",
    });
    onTestFinished(() => server.stop());
    const args = ["--server", server.origin, "--server-model", "large", short];
    const result = await run(args, { env: { SPEECH_SERVER_KEYS: "secret" } });
    expect(result).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^Bonjour monde\./), err: "" });
    expect(server.requests[0]).toMatchObject({ model: "large", authorization: "Bearer secret" });
    const refused = await run(args);
    expect(refused).toMatchObject({ exitCode: 1, out: "" });
    expect(refused.err).toMatch(/^subtext-speech: [^\n]+: engine_refused: [^\n]+ 401 [^\n]+\n$/);
  });

  test("fail at once if no server was ever reachable", async () => {
    const { exitCode, err } = await run(["--server", "http://nobody.invalid/v1", "children.wav"]);
    expect(exitCode).toBe(1);
    expect(err).toMatch(
      /^subtext-speech: children.wav: engine_refused: .*nobody\.invalid.*\(check the address and whether the server is running\)\.\n$/,
    );
  });

  test("are sent to servers through a proxy if the environment names one", async () => {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url ?? "");
      request.resume().on("end", () => {
        response.end(JSON.stringify({ language: "english", text: "Through.", segments: [] }));
      });
    });
    await once(proxy.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void proxy.close());
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const env = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: address };
    const { exitCode, out } = await run(["--server", "http://gpu.example:8000", short], { env });
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: expect.stringMatching(/^Through\./) });
    expect(asked[0]).toBe("http://gpu.example:8000/v1/audio/transcriptions");
  });

  test.each(decoders)("are released at Ctrl-C while %s decodes, and no process remains", async (decoder) => {
    const long = join(folder, "long.wav");
    writeFileSync(
      long,
      wavFile(sequence(...Array.from({ length: 400 }, () => [theChildren, 1, theWeather, 1]).flat())),
    );
    const withDecoder = decoder === "node-av" ? ["--ffmpeg", "none"] : [];
    const { child, ended } = start(["--json", ...withDecoder, long, short]);
    // The engine and the decoder of the recording.
    let below: number[] = [];
    await until(() => {
      below = descendantsRunning(child.pid!, "");
      return below.length > 1 && descendantsRunning(child.pid!, long).length > 0;
    });
    child.kill("SIGINT");
    expect(await ended).toEqual({ exitCode: 130, out: "", err: "" });
    await until(() => below.every((pid) => !existsSync(`/proc/${pid}/exe`)));
  });

  /** A new folder that contains the model under a name. */
  function modelBeside(name: string): string {
    const place = mkdtempSync(join(folder, "beside-"));
    symlinkSync(tinyWhisperModel, join(place, name));
    return place;
  }
});

describe("a terminal", () => {
  test("shows a bar while the recording is transcribed, which is replaced by the text", async () => {
    const command = `${process.execPath} ${PROGRAM} --threads 1 ${basename(short)}`;
    const child = spawn("script", ["-qefc", command, "/dev/null"], {
      cwd: folder,
      env: { PATH: process.env.PATH, XDG_CACHE_HOME: join(folder, "cache") },
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    const shown = (await Array.fromAsync(child.stdout)).join("");
    expect(shown).toContain("\rchildren.wav  [------------------------]  0%  0:00/0:06");
    expect(shown.split("\u001b[K").at(-1)).toMatch(
      /^children\.wav {2}6\.9 s of en in [^\r]+, by moonshine-tiny\r\nChildren played/,
    );
  });

  test("shows percent, position, speed and remaining time, also for recordings of hours", () => {
    const written: string[] = [];
    let now = 0;
    const terminal = { write: (text: string) => void written.push(text), columns: () => 80 };
    const display = showTranscription("a-very-long-name-of-a-file.mp4", terminal, () => now);
    display.show({ done: 0, duration: 36_000, remainingSeconds: null });
    now = 60_000;
    display.show({ done: 7_200, duration: 36_000, remainingSeconds: 240 });
    display.erase();
    expect(written).toEqual([
      "\ra-very-long-name-of-a-f…  [------------------------]  0%  0:00/10:00:00\u001b[K",
      "\ra-very-long-name-of-a-f…  [##---------]  20%  2:00:00/10:00:00  120×  4:00 left\u001b[K",
      "\r\u001b[K",
    ]);
  });

  test("shows no bar if the duration is unknown", () => {
    const written: string[] = [];
    const terminal = { write: (text: string) => void written.push(text), columns: () => 80 };
    showTranscription("live.webm", terminal).show({ done: 65.9, duration: null, remainingSeconds: null });
    expect(written).toEqual(["\rlive.webm  1:05\u001b[K"]);
  });
});

describe("text", () => {
  const said = (...words: [word: string, start: number][]) =>
    words.map(([word, start]) => ({ word, start, end: start + 0.5, confidence: 1 }));

  test("has a space between words, except in scripts without spaces", () => {
    expect(paragraphsOf(said(["It", 0], ["is", 1]))).toEqual(["It is"]);
    expect(paragraphsOf(said(["今日", 0], ["は、", 1], ["2023", 2], ["年", 3], ["です。", 4]))).toEqual([
      "今日は、2023年です。",
    ]);
    expect(paragraphsOf(said(["東京", 0], ["Tower", 1]))).toEqual(["東京 Tower"]);
  });

  test("begins a paragraph after two seconds of pause", () => {
    expect(paragraphsOf(said(["One.", 0], ["Two.", 2.4], ["Three.", 4.9]))).toEqual(["One. Two.", "Three."]);
    expect(paragraphsOf([])).toEqual([]);
  });
});

describe("wrong use", () => {
  test.each([
    [[]],
    [["--engine", "kaldi", "a.wav"]],
    [["--json", "--words", "a.wav"]],
    [["--engine", "openai", "a.wav"]],
    [["--engine", "moonshine", "--server", "http://gpu:8000", "a.wav"]],
    [["--engine", "moonshine", "--model", "whisper-tiny", "a.wav"]],
    [["--server", "gpu:8000", "a.wav"]],
    [["--server", "http://me:hunter2@gpu:8000", "a.wav"]],
    [["--threads", "0", "a.wav"]],
    [["--max-duration", "soon", "a.wav"]],
    [["--max-duration", "0", "a.wav"]],
    [["models", "rm"]],
  ])("%j ends with exit code 2 and says why", async (args) => {
    const { exitCode, out, err } = await call(args);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
    expect(err).toMatch(args.length === 0 ? /^Usage: subtext-speech/ : /^error: [^\n]+\n/);
    expect(err).not.toContain("hunter2");
  });

  test("of keys is reported without showing them", async () => {
    const servers = ["--server", "http://a", "--server", "http://b", "--server", "http://c"];
    const { exitCode, err } = await call([...servers, "a.wav"], { SPEECH_SERVER_KEYS: "k1,k2" });
    expect(exitCode).toBe(2);
    expect(err).toMatch(/^error: SPEECH_SERVER_KEYS: it must be one key, or one for each server \(3\)\n$/);
  });

  test("of engines that are not installed fails and explains how to get them", async () => {
    const none = await call(["--engine", "whisper", short]);
    expect(none).toMatchObject({ exitCode: 1, out: "" });
    expect(none.err).toMatch(/^subtext-speech: model_not_found: [^\n]+models pull whisper-small[^\n]+\n$/);
    const named = await call(["--model", "whisper-tiny", short]);
    expect(named.err).toMatch(
      /^subtext-speech: model_not_found: [^\n]+`npx subtext-speech models pull whisper-tiny`/,
    );
    const unknown = await call(["--model", "whisper-huge", short]);
    expect(unknown.err).toMatch(
      /^subtext-speech: model_not_found: The model whisper-huge is not installed .*\. Available models: whisper-tiny, /,
    );
  });
});

describe("models", () => {
  test("are listed, pulled, verified and removed in a folder of the user's caches", async () => {
    const hub = await startTinyModelHub(TINY);
    onTestFinished(() => hub.stop());
    const env = { MODEL_HUB_URL: `${hub.url}/` };
    const place = join(folder, "cache", "subtext", "models", TINY.name);
    const pulled = await call(["models", "pull", TINY.name], env);
    expect(pulled).toMatchObject({ exitCode: 0, out: `${TINY.name} installed: ${place}\n` });
    const list = await call(["models", "list", "--json"], env);
    expect(JSON.parse(list.out)[0]).toMatchObject({ name: TINY.name, state: "installed", folder: place });
    expect(await call(["models", "verify"])).toMatchObject({ exitCode: 0, out: `${TINY.name}  ok\n` });
    writeFileSync(join(place, "config.json"), "x");
    expect(await call(["models", "verify"])).toMatchObject({ exitCode: 1, err: "" });
    const damaged = await call([short]);
    expect(damaged).toMatchObject({ exitCode: 1, out: "" });
    expect(damaged.err).toMatch(/^subtext-speech: model_corrupt: [^\n]+\n$/);
    const removed = await call(["models", "rm", TINY.name]);
    expect(removed).toMatchObject({ exitCode: 0, out: `${TINY.name} removed\n` });
  });

  test("are in --models-dir, which takes precedence over MODELS_DIR", async () => {
    const [named, other] = [mkdtempSync(join(folder, "named-")), mkdtempSync(join(folder, "other-"))];
    cpSync(join(tinyWhisperModel, "config.json"), join(named, "whisper-base", "config.json"));
    const state = async (args: string[], env: Record<string, string>) => {
      const { out } = await call(["models", "list", "--json", ...args], env);
      return JSON.parse(out).find(({ name }: { name: string }) => name === "whisper-base").state;
    };
    expect(await state(["--models-dir", named], { MODELS_DIR: other })).toBe("installed");
    expect(await state([], { MODELS_DIR: other })).toBe("available");
    expect(await state([], { MODELS_DIR: named })).toBe("installed");
  });

  test("are not pulled with an encoder that they do not have", async () => {
    const { exitCode, err } = await call(["models", "pull", "whisper-large-v3", "--encoder", "fp32"]);
    expect(exitCode).toBe(1);
    expect(err).toContain("whisper-large-v3 has no fp32 encoder. Available: int8.");
  });

  test("are not requested from a URL that contains a password", async () => {
    const { exitCode, err } = await call(["models", "pull"], {
      MODEL_HUB_URL: "https://me:hunter2@hub.example",
    });
    expect(exitCode).toBe(1);
    expect(err).toMatch(/^subtext-speech: MODEL_HUB_URL (?!.*hunter2)[^\n]+\n$/);
  });
});
