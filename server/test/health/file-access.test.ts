import { execFileSync, spawn } from "node:child_process";
import { chmod, chown, lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { NewApiKeyView } from "../../src/admin/contract/api-key.ts";
import { readConfig } from "../../src/config/config.ts";
import { diagnose } from "../../src/health/doctor.ts";
import { inspectFileAccess } from "../../src/health/file-access.ts";
import { freePort } from "../support/free-port.ts";
import { HEALTHY_CHECKS } from "../support/healthy-checks.ts";
import { temporaryFolder, until } from "../support/service.ts";

const SUBTEXT = join(import.meta.dirname, "../../bin/subtext.js");
const SAMPLE = join(import.meta.dirname, "../../../demo/sample/sample.mp4");

/** Starts the program in a shell whose umask removes no permissions. */
function command(args: string[]): [string, string[]] {
  return ["sh", ["-c", 'umask 000; exec "$0" "$@"', process.execPath, SUBTEXT, ...args]];
}

async function entriesOf(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).map((path) => join(folder, path));
}

test("everything that a run creates is inaccessible to other users: database, recordings, locks and backups", async () => {
  const parent = await temporaryFolder();
  const dataFolder = join(parent, "data");
  const port = await freePort();
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    DATA_DIR: dataFolder,
    PORT: String(port),
    MODEL_DOWNLOAD: "off",
  };
  const run = (...args: string[]) => {
    const [shell, rest] = command(args);
    return execFileSync(shell, rest, { cwd: tmpdir(), env, encoding: "utf8" });
  };

  const [shell, args] = command(["serve"]);
  const service = spawn(shell, args, { cwd: tmpdir(), env, stdio: "ignore" });
  const ended = new Promise((resolve) => service.once("close", resolve));
  onTestFinished(async () => {
    service.kill("SIGKILL");
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok);

  run("env", "create", "Production");
  const permissions = "create_video,get_video";
  const { key } = JSON.parse(
    run("keys", "create", "--env", "Production", "--permissions", permissions, "--json"),
  ) as NewApiKeyView;
  const headers = { authorization: `Bearer ${key}`, "tus-resumable": "1.0.0" };
  const recording = await readFile(SAMPLE);
  const upload = (length: number) =>
    fetch(`${url}/api/v1/uploads`, {
      method: "POST",
      headers: {
        ...headers,
        "upload-length": String(length),
        "content-type": "application/offset+octet-stream",
      },
      body: recording,
    });
  const uploaded = await upload(recording.length);
  // An unfinished upload.
  expect((await upload(recording.length + 1)).status).toBe(201);
  const videoId = uploaded.headers.get("location")?.split("/").at(-1);
  const backup = join(parent, "backup");
  run("backup", backup);

  const entries = [dataFolder, ...(await entriesOf(dataFolder)), backup, ...(await entriesOf(backup))];
  for (const part of ["service.json", "database.lock", "PG_VERSION", `${videoId}`]) {
    expect([part, entries.some((path) => path.endsWith(part))]).toEqual([part, true]);
  }
  const open: string[] = [];
  for (const path of entries) {
    const { mode } = await lstat(path);
    if (mode & 0o077) open.push(`${path} ${(mode & 0o777).toString(8)}`);
  }
  expect(open).toEqual([]);

  service.kill("SIGTERM");
  await ended;
});

test("the doctor names files that other users can access or that belong to another user, with the command that fixes them", async () => {
  const folder = join(await temporaryFolder(), "data");
  await mkdir(join(folder, "files"), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, "files", "a"), "", { mode: 0o600 });
  await symlink("/etc/hostname", join(folder, "link"));
  const uid = (await lstat(folder)).uid;
  await chmod(folder, 0o700);
  expect(await inspectFileAccess(folder)).toEqual({ uid, exposed: [], foreign: [] });

  await chmod(join(folder, "files", "a"), 0o644);
  await chmod(folder, 0o755);
  const exposed = [folder, join(folder, "files", "a")];
  expect(await inspectFileAccess(folder)).toEqual({ uid, exposed, foreign: [] });
  const findings = await diagnose(readConfig({ DATA_DIR: folder, ENGINE: "moonshine" }), HEALTHY_CHECKS);
  expect(findings.find(({ name }) => name === "file access")).toMatchObject({
    status: "warning",
    detail: `Other users can access 2 files or folders such as ${folder}.`,
    remedy: `Run as root: chmod -R go= ${folder}`,
  });
  execFileSync("chmod", ["-R", "go=", folder]);
  expect(await inspectFileAccess(folder)).toEqual({ uid, exposed: [], foreign: [] });

  // Longer than a file system allows.
  const inaccessible = readConfig({ DATA_DIR: join(folder, "x".repeat(300)), ENGINE: "moonshine" });
  expect((await diagnose(inaccessible, HEALTHY_CHECKS)).map(({ name, status }) => [name, status])).toEqual(
    expect.arrayContaining([
      ["data folder", "missing"],
      ["file access", "warning"],
    ]),
  );

  // Only root can change the owner of a file.
  if (uid !== 0) return;
  await chown(join(folder, "files"), 12345, 12345);
  expect(await inspectFileAccess(folder)).toEqual({ uid, exposed: [], foreign: [join(folder, "files")] });
});
