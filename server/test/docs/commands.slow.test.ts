import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { blocksRunBy } from "../../../test/support/documented-blocks.ts";
import { freePort } from "../support/free-port.ts";

const SERVER = join(import.meta.dirname, "../..");
const METRICS_TOKEN = "a-token-for-the-documentation";
const blocks = blocksRunBy(import.meta.filename);

let home: string;
let url: string;
let serve: ChildProcess;
let env: Record<string, string>;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "subtext-docs-"));
  await cp(inject("templateDataFolder"), join(home, "data"), { recursive: true });
  await copyFile(join(SERVER, "../demo/sample/sample.mp4"), join(home, "talk.mp4"));
  await writeFile(join(home, "meeting.mp4"), "not media");
  await writeFile(join(home, ".curlrc"), "fail-with-body\nsilent\nshow-error\n");
  for (const name of ["bin", "backups"]) await mkdir(join(home, name));
  const subtext = `#!/bin/sh\nexec "${process.execPath}" "${SERVER}/bin/subtext.js" "$@"\n`;
  await writeFile(join(home, "bin/subtext"), subtext);
  await chmod(join(home, "bin/subtext"), 0o755);
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  env = {
    PATH: `${join(home, "bin")}:${process.env.PATH}`,
    HOME: home,
    DATA_DIR: join(home, "data"),
    PORT: String(port),
    MODEL_DOWNLOAD: "off",
    METRICS_TOKEN,
    SUBTEXT_URL: url,
  };
  serve = spawn(process.execPath, [join(SERVER, "bin/subtext.js"), "serve"], {
    cwd: home,
    env,
    stdio: "ignore",
  });
  for (;;) {
    if (serve.exitCode !== null) throw new Error("the service exited during startup");
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});

afterAll(async () => {
  serve.kill("SIGTERM");
  if (serve.exitCode === null && serve.signalCode === null) await once(serve, "exit");
  await rm(home, { recursive: true, force: true });
});

/** Joins the blocks of a page into one script. */
function scriptFrom(page: string, range?: [number, number?]): string {
  const blocksOfPage = blocks.filter((block) => block.page === page);
  expect([page, blocksOfPage.length > 0]).toEqual([page, true]);
  return blocksOfPage
    .slice(...(range ?? []))
    .map((block) => block.text)
    .join("\n")
    .replaceAll("http://127.0.0.1:8080", url)
    .replaceAll("https://subtext.example.com", url)
    .replaceAll("/mnt/backups", join(home, "backups"))
    .replaceAll("/srv/subtext", join(home, "restored"));
}

async function runScript(script: string, more: Record<string, string> = {}): Promise<string> {
  const shell = spawn("bash", ["--norc", "-euo", "pipefail", "-c", script], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: home,
    env: { ...env, ...more },
  });
  const [out, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  const code = shell.exitCode ?? (await once(shell, "exit"))[0];
  expect([code, errors]).toEqual([0, ""]);
  expect(out).not.toContain("/docs/errors#");
  return out;
}

let key: string;
let videoId: string;

test("the commands of docs/quickstart.md lead to a transcript", async () => {
  const made = await runScript(scriptFrom("docs/quickstart.md", [0, 1]));
  const [first = ""] = /subtext_[0-9a-z]{26}_[0-9A-Za-z]{49}/.exec(made) ?? [];
  const out = await runScript(scriptFrom("docs/quickstart.md", [1]), { SUBTEXT_API_KEY: first });
  [videoId = ""] = /video_[0-9a-z]+/.exec(out) ?? [];
  expect(out).toContain("COMPLETED");
  expect(out).toContain("WEBVTT");
  expect(out).toMatch(/"word":\s*"\w+/);
}, 180_000);

const allPermissions = "create_video,get_video,delete_video,manage_webhooks";

test("the commands of every other page run unchanged, in order", async () => {
  const json = await runScript(`subtext keys create --env Production --permissions ${allPermissions} --json`);
  ({ key } = JSON.parse(json) as { key: string });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const created = await fetch(`${url}/api/v1/webhook-endpoints`, {
    method: "POST",
    headers,
    body: '{"url":"https://example.com/hook"}',
  });
  const { id: endpointId } = (await created.json()) as { id: string };
  const names = { SUBTEXT_API_KEY: key, ENDPOINT_ID: endpointId, METRICS_TOKEN };
  // Run pages that delete data after pages that read it.
  const pages = [...new Set(blocks.map(({ page }) => page))].filter((page) => page !== "docs/quickstart.md");
  pages.sort((one, other) => Number(one === "docs/api.md") - Number(other === "docs/api.md"));
  expect(pages.length).toBeGreaterThan(3);
  for (const page of pages) await runScript(scriptFrom(page), { ...names, VIDEO_ID: videoId });
}, 240_000);
