import { spawn } from "node:child_process";
import { readFile, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelView } from "@subtext/speech/cli/model-commands";
import { KNOWN_MODELS, type KnownModel } from "@subtext/speech/models/catalog";
import { describeMachine } from "@subtext/speech/models/measured-speed";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ModelHub } from "../../../speech/test/support/model-hub.ts";
import { startTinyModelHub } from "../../../speech/test/support/tiny-model-hub.ts";
import { writeServiceFile } from "../../src/lib/service-file.ts";
import { temporaryFolder } from "../support/service.ts";

const SUBTEXT = join(import.meta.dirname, "../../bin/subtext.js");
const TINY = KNOWN_MODELS[0] as KnownModel;

async function startHub(): Promise<ModelHub> {
  const hub = await startTinyModelHub(TINY);
  onTestFinished(() => hub.stop());
  return hub;
}

interface Outcome {
  exitCode: number | null;
  out: string;
  err: string;
}

/** Runs the program without a terminal. */
async function run(args: string[], env: Record<string, string>): Promise<Outcome> {
  const child = spawn(process.execPath, [SUBTEXT, ...args], {
    cwd: tmpdir(),
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      WHISPER_ENCODER: "int8",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const seen = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    seen.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    seen.err += chunk;
  });
  const exitCode = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { exitCode, ...seen };
}

describe("the models commands", () => {
  test("list, pull, verify and remove models", async () => {
    const [hub, dataFolder] = [await startHub(), await temporaryFolder()];
    const env = { DATA_DIR: dataFolder, MODEL_HUB_URL: hub.url, WHISPER_MODEL: TINY.name };
    const list = async () => JSON.parse((await run(["models", "list", "--json"], env)).out) as ModelView[];
    expect((await list()).map(({ name, state, wanted }) => [name, state, wanted])).toEqual(
      KNOWN_MODELS.map(({ name }) => [name, "available", name === TINY.name]),
    );

    const folder = join(dataFolder, "models", TINY.name);
    const pulled = await run(["models", "pull"], env);
    expect(pulled).toMatchObject({ exitCode: 0, out: `${TINY.name} installed: ${folder}\n` });
    expect(pulled.err).toMatch(
      /^whisper-tiny {2}0% .*\n(.*\n)*whisper-tiny {2}100% {2}4\.\d MB of 4\.\d MB.*\n$/,
    );
    const [tiny] = await list();
    expect(tiny).toMatchObject({ state: "installed", commit: hub.commit, folder });
    const { size } = await stat(join(folder, "config.json"));

    const again = await run(["models", "pull", TINY.name, "--json"], env);
    expect({ ...again, out: JSON.parse(again.out) }).toEqual({
      exitCode: 0,
      err: "",
      out: { name: TINY.name, folder, wasInstalled: true },
    });
    expect(await run(["models", "verify"], env)).toEqual({ exitCode: 0, err: "", out: `${TINY.name}  ok\n` });
    const tokenizer = await readFile(join(folder, "tokenizer.json"));
    await writeFile(join(folder, "tokenizer.json"), Buffer.alloc(tokenizer.length));
    expect(await run(["models", "verify", TINY.name], env)).toEqual({
      exitCode: 1,
      err: "",
      out: `${TINY.name}  DAMAGED\n  tokenizer.json has changed since it was installed.\n`,
    });
    const work = { machine: describeMachine(1), speechSeconds: 600, workSeconds: 50 };
    await writeFile(join(folder, "speed.json"), JSON.stringify(work));
    const listed = await run(["models", "list"], { ...env, SPEECH_THREADS: "1" });
    expect(listed.out).toMatch(/^whisper-tiny \* .* 12 × measured {2}/m);
    await truncate(join(folder, "config.json"), 1);
    const damaged = await run(["models", "list"], env);
    expect(damaged.out).toMatch(/^whisper-tiny \* .*damaged/m);
    expect(damaged.out).toContain(`whisper-tiny: config.json has 1 bytes instead of ${size}.`);
  });

  test("rm refuses to remove the model that a running service uses, unless it is forced", async () => {
    const [hub, dataFolder] = [await startHub(), await temporaryFolder()];
    const env = { DATA_DIR: dataFolder, MODEL_HUB_URL: hub.url, WHISPER_MODEL: TINY.name };
    await run(["models", "pull"], env);
    // The health check of a hub looks like that of a service.
    await writeServiceFile(dataFolder, { url: hub.url, token: "x".repeat(43), pid: process.pid });
    const refused = await run(["models", "rm", TINY.name], env);
    expect(refused).toMatchObject({ exitCode: 1, out: "" });
    expect(refused.err).toMatch(/^subtext: The running service .* uses whisper-tiny[^\n]*--force[^\n]*\n$/);
    const forced = await run(["models", "rm", TINY.name, "--force"], env);
    expect(forced).toEqual({ exitCode: 0, out: `${TINY.name} removed\n`, err: "" });
    const gone = await run(["models", "rm", TINY.name, "--force"], env);
    expect(gone).toEqual({ exitCode: 0, out: `${TINY.name} is not installed\n`, err: "" });
  });

  test("that fail exit with one line and 1, and with 2 if they are invalid", async () => {
    const [hub, dataFolder] = [await startHub(), await temporaryFolder()];
    hub.faults = { token: "secret" };
    const env = { DATA_DIR: dataFolder, MODEL_HUB_URL: hub.url };
    for (const args of [
      ["models", "pull", "whisper-nonsense"],
      ["models", "pull", TINY.name],
      ["models", "rm", "../data"],
      ["models", "verify", TINY.name],
    ]) {
      const outcome = await run(args, env);
      expect([args, outcome.exitCode, outcome.out]).toEqual([args, 1, ""]);
      expect(outcome.err).toMatch(/^subtext: [^\n]+\n$/);
    }
    expect((await run(["models", "pull", TINY.name], env)).err).toContain(" (model_download_failed)\n");
    expect((await run(["models", "rm"], env)).exitCode).toBe(2);
    expect((await run(["models", "pull", TINY.name], { ...env, MODEL_HUB_TOKEN: "secret" })).exitCode).toBe(
      0,
    );
  });
});
