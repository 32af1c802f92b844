import { type ChildProcess, spawn } from "node:child_process";
import { chown, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FINAL_EVENT_TYPES } from "@subtext/client/contract/webhook";
import type { WebhookEndpointWithSecret } from "@subtext/client/contract/webhook-endpoint";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { NewApiKeyView } from "../../src/admin/contract/api-key.ts";
import type { EnvironmentView } from "../../src/admin/contract/environment.ts";
import type { FindingView } from "../../src/admin/contract/system.ts";
import type { EffectiveSetting } from "../../src/config/settings-reader.ts";
import type { RunningService } from "../../src/lib/service-file.ts";
import { freePort } from "../support/free-port.ts";
import { temporaryFolder, until } from "../support/service.ts";

const SUBTEXT = join(import.meta.dirname, "../../bin/subtext.js");

interface Outcome {
  exitCode: number | null;
  out: string;
  err: string;
}

interface RunOptions {
  env: Record<string, string>;
  nodeOptions?: string[];
  /** Limit for one command; a service runs as long as its tests do. */
  timeoutMs?: number;
}

/** Starts the program in its own process, in a folder without a `.env`. */
function start(
  args: string[],
  { env, nodeOptions = [], timeoutMs }: RunOptions,
): ChildProcess & { seen: Outcome } {
  const child = spawn(process.execPath, [...nodeOptions, SUBTEXT, ...args], {
    cwd: tmpdir(),
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      MODEL_DOWNLOAD: "off",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const seen: Outcome = { exitCode: null, out: "", err: "" };
  child.stdout?.on("data", (chunk) => {
    seen.out += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    seen.err += chunk;
  });
  return Object.assign(child, { seen });
}

async function ended(child: ChildProcess & { seen: Outcome }): Promise<Outcome> {
  if (child.exitCode === null && child.signalCode === null) {
    await new Promise((resolve) => child.once("close", resolve));
  }
  return { ...child.seen, exitCode: child.exitCode };
}

const run = (args: string[], options: RunOptions) => ended(start(args, { timeoutMs: 45_000, ...options }));

/** Returns the output of a command with --json, which must succeed. */
async function runJson<T>(args: string[], options: RunOptions): Promise<T> {
  const { exitCode, out, err } = await run([...args, "--json"], options);
  expect({ args, exitCode, err }).toEqual({ args, exitCode: 0, err: "" });
  return JSON.parse(out) as T;
}

/** Expects a single readable line, without a stack trace. */
function expectOneLine({ err }: Outcome): void {
  expect(err).toMatch(/^subtext: [^\n]+\n$/);
}

describe("beside a running service", () => {
  let options: RunOptions;
  let url: string;
  let dataFolder: string;
  let serve: ReturnType<typeof start>;

  beforeAll(async () => {
    dataFolder = await mkdtemp(join(tmpdir(), "subtext-test-"));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    options = { env: { DATA_DIR: dataFolder, PORT: String(port) } };
    serve = start(["serve"], options);
    await until(async () => serve.seen.out.includes("/setup#") || serve.exitCode !== null);
  });

  afterAll(async () => {
    serve.kill("SIGKILL");
    await ended(serve);
    await rm(dataFolder, { recursive: true, force: true });
  });

  test("the first start prints a setup link that works once, and does not log it", async () => {
    expect(serve.seen.out).toContain(dataFolder);
    const token = serve.seen.out.match(`${url}/setup#(\\S+)`)?.[1] ?? "";
    const setUp = () =>
      fetch(`${url}/internal/setup`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: url },
        body: JSON.stringify({
          token,
          name: "Olive",
          email: "olive@subtext.example",
          password: "a long password",
        }),
      });
    const first = await setUp();
    expect(first.status).toBe(201);
    expect(first.headers.getSetCookie()).toHaveLength(1);
    expect((await setUp()).status).toBe(403);
    const logged = serve.seen.out.split("\n").filter((line) => line.startsWith("{"));
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.join("\n")).not.toContain(token);
  });

  test("only its own user can read the file that tells commands how to reach it", async () => {
    const path = join(dataFolder, "service.json");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const running = JSON.parse(await readFile(path, "utf8")) as RunningService;
    expect(running).toEqual({ url, token: expect.any(String), pid: serve.pid });
  });

  test.runIf(process.platform === "linux")("serve limits the freed memory that glibc keeps", async () => {
    const environment = (await readFile(`/proc/${serve.pid}/environ`, "utf8")).split("\0");
    expect(environment).toContain("MALLOC_TRIM_THRESHOLD_=131072");
  });

  test("operators are listed, invited and removed, except for the last owner", async () => {
    const emails = async () => {
      type Listed = Record<"operators" | "invitations", { email: string; role: string }[]>;
      const { operators, invitations } = await runJson<Listed>(["operators", "list"], options);
      return [operators, invitations].map((list) => list.map(({ email, role }) => `${email} ${role}`));
    };
    const olive = "olive@subtext.example owner";
    const invited = await run(["operators", "invite", "ann@subtext.example", "--role", "viewer"], options);
    expect(invited.out).toMatch(/^link +http\S+\nemail +ann@subtext.example\nrole +viewer\nexpires /);
    expect(await emails()).toEqual([[olive], ["ann@subtext.example viewer"]]);
    expect((await run(["operators", "list"], options)).out).toMatch(
      /^EMAIL .*\nolive@subtext.example +Olive +owner +active\nann@subtext.example +viewer +invited until /,
    );
    const removed = await run(["operators", "remove", "Ann@subtext.example"], options);
    expect(removed.out).toBe("Ann@subtext.example was removed.\n");
    expect(await emails()).toEqual([[olive], []]);
    for (const email of ["ann@subtext.example", "olive@subtext.example"])
      expect((await run(["operators", "remove", email], options)).exitCode).toBe(1);
    expect(await emails()).toEqual([[olive], []]);
  });

  test("commands create, list and delete resources, as text and as JSON", async () => {
    const { next } = await runJson<{ next: string }>(["doctor"], options);
    expect(next).toBe("Create an environment: npx subtext env create <name>");
    const created = await run(["env", "create", "Production", "--transcription", "on"], options);
    expect(created).toMatchObject({ exitCode: 0, err: "" });
    expect(created.out).toMatch(
      /^environment +Production\nid +env_\w+\ntranscription +on\nretention +forever\nweight +1\nallowed origins +\*\nvocabulary +none\n$/,
    );
    const off = await runJson<EnvironmentView>(
      ["env", "set", "Production", "--transcription", "off"],
      options,
    );
    expect(off.aiTranscription).toBe(false);
    const setOrigins = (origins: string) =>
      runJson<EnvironmentView>(["env", "set", "Production", "--origins", origins], options);
    expect((await setOrigins("https://a.example, https://b.example")).allowedOrigins).toEqual([
      "https://a.example",
      "https://b.example",
    ]);
    expect((await setOrigins("none")).allowedOrigins).toEqual([]);
    expect((await run(["env", "set", "Production", "--origins", "a.example"], options)).exitCode).toBe(1);
    expect(await setOrigins("*")).toEqual(off);
    const setVocabulary = async (terms: string) =>
      (await runJson<EnvironmentView>(["env", "set", "Production", "--vocabulary", terms], options))
        .vocabulary;
    expect(await setVocabulary("Subtext, Anna Weber,")).toEqual(["Subtext", "Anna Weber"]);
    expect((await run(["env", "set", "Production", "--vocabulary", "a,a"], options)).exitCode).toBe(1);
    expect(await setVocabulary("none")).toEqual([]);
    expect(await runJson(["env", "list"], options)).toEqual([off]);

    const keyOptions = ["--env", "Production", "--permissions", "get_video", "--expires-in", "90d"];
    const key = await runJson<NewApiKeyView>(["keys", "create", ...keyOptions], options);
    expect(key).toMatchObject({ environmentId: off.id, permissions: ["get_video"] });
    const days = (Date.parse(key.expiresAt ?? "") - Date.parse(key.createdAt)) / 86_400_000;
    expect(Math.round(days)).toBe(90);
    expect((await run(["keys", "revoke", key.id], options)).exitCode).toBe(0);
    const keys = await run(["keys", "list", "--env", off.id], options);
    expect(keys.out).toMatch(new RegExp(`^NAME +ID +.*\\n.*${key.id} +get_video +revoked`));
    expect(keys.out).not.toContain(key.key);

    const hook = [
      "--env",
      "Production",
      "--url",
      "https://receiver.example/",
      "--metadata",
      '{"team":"video"}',
    ];
    const events = ["--events", "transcriptions.transcription.completed,transcriptions.transcription.failed"];
    const endpoint = await runJson<WebhookEndpointWithSecret>(
      ["webhooks", "create", ...hook, ...events],
      options,
    );
    expect(endpoint).toMatchObject({ metadata: { team: "video" } });
    expect(endpoint.eventTypes).toHaveLength(2);
    const other = await runJson<WebhookEndpointWithSecret>(["webhooks", "create", ...hook], options);
    expect(other.eventTypes).toEqual(FINAL_EVENT_TYPES);
    expect((await run(["webhooks", "delete", other.id], options)).exitCode).toBe(0);
    expect(await runJson(["webhooks", "deliveries", endpoint.id], options)).toEqual([]);
    expect((await run(["webhooks", "delete", endpoint.id], options)).exitCode).toBe(0);
    expect(await runJson(["webhooks", "list", "--env", "Production"], options)).toEqual([]);
    expect(await runJson(["transcriptions", "list"], options)).toEqual([]);
    expect(serve.seen.out).not.toContain(key.key);
    expect(serve.seen.out).not.toContain(endpoint.secret);
  });

  test("operators get roles in some environments or in all", async () => {
    for (const name of ["Lab", "Archive"]) await run(["env", "create", name], options);
    const email = "eve@subtext.example";
    const command = ["operators", "invite", email, "--role", "editor", "--env", "Lab"];
    const { url: link } = await runJson<{ url: string }>(command, options);
    const body = JSON.stringify({
      token: new URL(link).hash.slice(1),
      name: "Eve",
      password: "a password of her own",
    });
    const headers = { "content-type": "application/json", origin: url };
    expect((await fetch(`${url}/internal/join`, { method: "POST", headers, body })).status).toBe(201);
    const change = async (...change: string[]) =>
      (await run(["operators", "change-role", email, "--role", ...change], options)).out;
    const list = await run(["operators", "list"], options);
    expect(list.out).toMatch(/\neve@subtext.example +Eve +editor in Lab +active\n/);
    expect(await change("viewer", "--env", "Archive")).toMatch(/^role +editor in Lab, viewer in Archive$/m);
    expect(await change("owner", "--env", "Lab", "Archive")).toMatch(
      /^role +owner in Lab, owner in Archive$/m,
    );
    expect(await change("none", "--env", "Lab")).toMatch(/^role +owner in Archive$/m);
    for (const wrong of [["none"], ["none", "--env", "Archive"], ["editor", "--env", "Nowhere"]]) {
      expect((await run(["operators", "change-role", email, "--role", ...wrong], options)).exitCode).toBe(1);
    }
    expect(await change("viewer")).toMatch(/^role +viewer$/m);
    expect(await change("editor", "--env", "Lab")).toMatch(/^role +editor in Lab$/m);
    const last = ["operators", "change-role", "olive@subtext.example", "--role", "editor"];
    expect((await run(last, options)).err).toContain("only owner of all environments");
    expect((await run(["operators", "remove", email], options)).exitCode).toBe(0);
  });

  test("a request that the service rejects exits with code 1 and one line with the reason", async () => {
    for (const args of [
      ["env", "create", ""],
      ["keys", "list", "--env", "Nowhere"],
      ["keys", "revoke", "key_unknown"],
      ["transcriptions", "show", "video_unknown"],
      ["reprocess", "a/../b"],
    ]) {
      const outcome = await run(args, options);
      expect([args, outcome.exitCode, outcome.out]).toEqual([args, 1, ""]);
      expectOneLine(outcome);
    }
  });

  test("a second service fails because of the port, and on another port because of the data folder", async () => {
    const other = await temporaryFolder();
    const samePort = await run(["serve"], { env: { ...options.env, DATA_DIR: other, LOG_LEVEL: "silent" } });
    expect(samePort.exitCode).toBe(1);
    expect(samePort.err).toMatch(/^subtext: Port \d+ on 127\.0\.0\.1 is already in use[^\n]*\n$/);
    // The start failed, so it consumed no credentials and created no data.
    expect(samePort.out).toBe("");
    expect(await readdir(other)).toEqual([]);

    const port = String(await freePort());
    const sameFolder = await run(["serve"], { env: { ...options.env, PORT: port, LOG_LEVEL: "silent" } });
    expect(sameFolder.exitCode).toBe(1);
    expectOneLine(sameFolder);
    expect(sameFolder.err).toMatch(/ is in use by process \d+\. .* \(data_folder_in_use\)\n$/);
  });

  test("SIGTERM stops it with exit code 0, and the next start prints no credentials", async () => {
    serve.kill("SIGTERM");
    expect(await ended(serve)).toMatchObject({ exitCode: 0, err: "" });
    await expect(stat(join(dataFolder, "service.json"))).rejects.toThrow("ENOENT");

    const again = start(["serve"], options);
    await until(async () => again.seen.out.includes("Subtext is running") || again.exitCode !== null);
    again.kill("SIGINT");
    const outcome = await ended(again);
    expect(outcome.exitCode).toBe(0);
    expect(outcome.out).not.toContain("Password");
  });
});

describe("without a running service", () => {
  let options: RunOptions;
  let dataFolder: string;

  beforeAll(async () => {
    dataFolder = await mkdtemp(join(tmpdir(), "subtext-test-"));
    await cp(inject("templateDataFolder"), dataFolder, { recursive: true });
    options = { env: { DATA_DIR: dataFolder } };
    return () => rm(dataFolder, { recursive: true, force: true });
  });

  test("commands open the data folder themselves, even after a service crashed", async () => {
    const made = await runJson<EnvironmentView>(["env", "create", "Staging"], options);
    expect(made.aiTranscription).toBe(true);
    const gone = { token: "x".repeat(43), url: `http://127.0.0.1:${await freePort()}` };
    const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
    await new Promise((resolve) => child.once("close", resolve));
    for (const leftBehind of [
      JSON.stringify({ ...gone, pid: child.pid }),
      JSON.stringify({ ...gone, pid: process.pid }),
      '{"url": "http://127',
    ]) {
      await writeFile(join(dataFolder, "service.json"), leftBehind);
      expect(await runJson(["env", "list"], options)).toEqual([made]);
    }
  });

  test("the doctor exits with 0 if everything is fine, or with 1 and the name of what is missing", async () => {
    type Diagnosis = { findings: FindingView[]; settings: EffectiveSetting[]; next: string };
    const { findings, settings, next } = await runJson<Diagnosis>(["doctor"], options);
    expect(settings).toContainEqual({ name: "DATA_DIR", value: dataFolder, from: "environment" });
    expect(findings.find(({ name }) => name === "database")).toMatchObject({ status: "ok" });

    const nowhere = {
      ...options.env,
      DATABASE_URL: `postgres://subtext:hunter2@127.0.0.1:${await freePort()}/x`,
    };
    expect(next).toBe("Start the service: npx subtext serve");
    const unhealthy = await run(["doctor"], { env: nowhere });
    expect(unhealthy.out).toMatch(/\nNext: Fix the parts that are MISSING, then run this command again\.\n$/);
    expect(unhealthy.exitCode).toBe(1);
    expect(unhealthy.err).toBe("");
    expect(unhealthy.out).toMatch(/^database +MISSING/m);
    expect(unhealthy.out).toMatch(/^storage +ok/m);
    expect(unhealthy.out).toMatch(/^engine +/m);
    expect(unhealthy.out).toMatch(/^DATABASE_URL +postgres:\/\/…@\S+ +environment$/m);
    expect(unhealthy.out).not.toContain("hunter2");
  });

  test("an invalid setting is named in one line", async () => {
    for (const args of [["serve"], ["env", "list"], ["doctor"]]) {
      const outcome = await run(args, { env: { ...options.env, PORT: "eighty" } });
      expect(outcome).toMatchObject({ exitCode: 1, out: "" });
      expectOneLine(outcome);
      expect(outcome.err).toContain("PORT=eighty");
    }
  });

  test("a mistyped command exits with 2 and prints the usage", async () => {
    for (const args of [
      [],
      ["env"],
      ["nonsense"],
      ["env", "create"],
      ["env", "set", "Staging"],
      ["env", "create", "X", "--transcription", "maybe"],
      ["keys", "create"],
      ["keys", "create", "--env", "Staging", "--expires-in", "soon"],
      ["keys", "create", "--env", "Staging", "--permissions", "everything"],
      ["webhooks", "create", "--env", "Staging", "--url", "https://a.example", "--metadata", "[1]"],
      ["transcriptions", "list", "--status", "LOST"],
    ]) {
      const outcome = await run(args, options);
      expect([args, outcome.exitCode, outcome.out]).toEqual([args, 2, ""]);
      expect(outcome.err).not.toBe("");
    }
  });

  test("settings are read from the .env of the working directory", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, ".env"), "PORT=from-the-file\n");
    const child = spawn(process.execPath, [SUBTEXT, "env", "list"], { cwd: folder, timeout: 45_000 });
    let err = "";
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    await new Promise((resolve) => child.once("close", resolve));
    expect(err).toContain("PORT=from-the-file");
  });

  test("a Node.js version that is too old causes a one-line error", async () => {
    const outcome = await run(["env", "list"], {
      ...options,
      nodeOptions: ["--no-experimental-strip-types"],
    });
    expect(outcome).toMatchObject({ exitCode: 1, out: "" });
    expectOneLine(outcome);
    expect(outcome.err).toContain("npx subtext");
  });

  test("commands other than serve and restore create nothing", { timeout: 180_000 }, async () => {
    const empty = await temporaryFolder();
    const absent = join(empty, "absent");
    const backup = join(await temporaryFolder(), "backup");
    for (const DATA_DIR of [empty, absent]) {
      for (const args of [
        ["env", "list"],
        ["env", "create", "Staging"],
        ["backup", backup],
        ["migrate"],
        ["storage", "accept"],
        ["upgrade-database"],
      ]) {
        const outcome = await run(args, { env: { DATA_DIR } });
        expect([args, outcome.exitCode, outcome.out]).toEqual([args, 1, ""]);
        expectOneLine(outcome);
        expect(outcome.err).toContain(`There is no Subtext installation in ${DATA_DIR}.`);
      }
    }
    const diagnosis = await run(["doctor"], { env: { DATA_DIR: absent }, timeoutMs: 100_000 });
    expect(diagnosis.exitCode).toBe(1);
    expect(diagnosis.out).toMatch(
      /^installation +MISSING +There is no Subtext installation.*\n +→ Before the first start, this is expected\.$/m,
    );
    expect(diagnosis.out).toMatch(/^storage +warning .*The first start creates it\.$/m);
    expect(diagnosis.out).toMatch(/\nNext: Start the service: npx subtext serve\n$/);
    expect(await readdir(empty)).toEqual([]);
    await expect(stat(backup)).rejects.toThrow("ENOENT");
  });

  test("a data folder that cannot be created causes an immediate error", async () => {
    const env = { DATA_DIR: "/proc/x", LOG_LEVEL: "silent", PORT: String(await freePort()) };
    for (const args of [["serve"], ["env", "list"]]) {
      const outcome = await run(args, { env });
      expect([args, outcome.exitCode]).toEqual([args, 1]);
    }
  });

  test.skipIf(process.getuid?.() !== 0)(
    "root acts as the owner of the data folder (skipped unless root runs the tests)",
    async () => {
      const folder = await temporaryFolder();
      await cp(inject("templateDataFolder"), folder, { recursive: true });
      const owner = 65_534;
      const all = async () =>
        ["", ...(await readdir(folder, { recursive: true }))].map((name) => join(folder, name));
      for (const path of await all()) await chown(path, owner, owner);
      const { exitCode, err } = await run(["env", "create", "Staging"], { env: { DATA_DIR: folder } });
      expect([exitCode, err]).toEqual([0, ""]);
      for (const path of await all()) expect([path, (await stat(path)).uid]).toEqual([path, owner]);
    },
  );
});
