/**
 * Builds the packages, installs them in empty folders with the oldest and the newest supported Node.js, and transcribes
 * the sample. Only the tarballs and the registry are used. An optional argument names the folder for the tarballs.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { buildPackages, OLDEST_NODE } from "./build.ts";
import { PUBLISHED_NAMES, RUNTIME_PREFIX } from "./names.ts";

const ROOT = join(import.meta.dirname, "..");
const PLATFORM = `${process.platform}-${process.arch}`;
const INSTALLED_MB = { withNodeAv: 335, withoutNodeAv: 160 };

const work = mkdtempSync(join(tmpdir(), "subtext-packages-"));
try {
  const tarballs = resolve(process.argv[2] ?? join(work, "tarballs"));
  buildPackages(tarballs);
  const files = readdirSync(tarballs).filter((name) => name.endsWith(".tgz"));
  for (const file of files) await checkTarball(readFileSync(join(tarballs, file)));

  const paths = files.map((file) => join(tarballs, file));
  const oldest = join(work, "oldest");
  npm(oldest, dirname(process.execPath), ["install", `node-${PLATFORM}@${OLDEST_NODE}.0`]);
  for (const bin of [join(oldest, `node_modules/node-${PLATFORM}/bin`), dirname(process.execPath)]) {
    const folder = mkdtempSync(join(work, "installed-"));
    npm(folder, bin, ["install", ...paths]);
    assert.deepEqual(findInstallScripts(folder), [], "packages with install scripts");
    assertSize(folder, "with node-av", INSTALLED_MB.withNodeAv);
    importModules(folder, bin);
    await transcribeSample(folder, bin);
  }

  const folder = mkdtempSync(join(work, "small-"));
  npm(folder, dirname(process.execPath), ["install", "--omit=optional", ...paths]);
  assert(existsSync(join(folder, "node_modules", RUNTIME_PREFIX + PLATFORM)));
  assertSize(folder, "without node-av", INSTALLED_MB.withoutNodeAv);
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function checkTarball(tarball: Buffer): Promise<void> {
  const { buffer, byteOffset, byteLength } = tarball;
  const { messages, pkg } = await publint({
    pack: { tarball: buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer },
  });
  assert.deepEqual(
    messages.map((message) => formatMessage(message, pkg)),
    [],
    `publint: ${pkg.name}`,
  );
  const contents = createPackageFromTarballData(tarball);
  // `checkPackage` does not expand patterns such as `./*`.
  const pattern = (pkg.exports as Record<string, { types: string }> | undefined)?.["./*"]?.types.split("*");
  const entrypoints = contents
    .listFiles()
    .map((file) => file.replace(/^\/node_modules\/[^/]+/, "."))
    .filter((file) => pattern && file.startsWith(pattern[0]!) && file.endsWith(pattern[1]!))
    .map((file) => `./${file.slice(pattern![0]!.length, -pattern![1]!.length)}`);
  const analysis = await checkPackage(contents, pattern && { entrypoints });
  const problems = analysis.types === false ? [] : analysis.problems;
  const relevant = problems.filter(
    (problem) => !("resolutionKind" in problem && ["node10", "node16-cjs"].includes(problem.resolutionKind)),
  );
  assert.deepEqual(relevant, [], `attw: ${pkg.name}`);
  console.log(
    `${pkg.name}: publint and attw report no problems (${entrypoints.length} entry points from patterns)`,
  );
}

/** Removes the variables that `npm run` sets for this script, because a new user does not have them. */
function environment(bin: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_)|npm_config_local_prefix|init_cwd)/i.test(name),
  );
  const path = [bin, process.env.PATH].join(delimiter);
  return { ...Object.fromEntries(own), PATH: path, npm_config_cache: join(work, "cache") };
}

function npm(folder: string, bin: string, args: string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const began = Date.now();
  execFileSync("npm", [...args, "--engine-strict", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    env: environment(bin),
    stdio: "inherit",
  });
  console.log(`npm ${args[0]} took ${Math.round((Date.now() - began) / 1000)} s`);
}

function findInstallScripts(folder: string): string[] {
  const names = readdirSync(join(folder, "node_modules"), { recursive: true, encoding: "utf8" });
  return names.filter((name) => {
    if (name.endsWith("binding.gyp")) return true;
    if (!name.endsWith("package.json")) return false;
    const { scripts = {} } = JSON.parse(readFileSync(join(folder, "node_modules", name), "utf8"));
    return scripts.preinstall || scripts.install || scripts.postinstall;
  });
}

function assertSize(folder: string, what: string, limit: number): void {
  // KiB is the only unit that both GNU and macOS support.
  const du = execFileSync("du", ["-sk", join(folder, "node_modules")], { encoding: "utf8" });
  const megabytes = Math.ceil((Number.parseInt(du, 10) * 1024) / 1e6);
  console.log(`${megabytes} MB installed ${what}`);
  assert(megabytes <= limit, `${megabytes} MB exceed the limit of ${limit} MB`);
}

/** Imports all modules of the server, because the package lacks files of its dependencies that should be unused. */
function importModules(folder: string, bin: string): void {
  const root = join(folder, "node_modules", PUBLISHED_NAMES["@subtext/server"]!, "server/src");
  const names = readdirSync(root, { recursive: true, encoding: "utf8" });
  // The command line runs when it is imported.
  const modules = names.filter((name) => name.endsWith(".js") && name !== "cli.js");
  assert(modules.length > 300);
  const imports = modules.map((name) => `await import(${JSON.stringify(join(root, name))});`);
  execFileSync("node", ["--input-type=module", "--eval", `${imports.join("\n")}\nprocess.exit(0);`], {
    cwd: folder,
    env: environment(bin),
    stdio: "inherit",
  });
}

async function transcribeSample(folder: string, bin: string): Promise<void> {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const settings = {
    PORT: String(port),
    DATA_DIR: join(folder, "data"),
    MODEL_DOWNLOAD: "off",
    FFMPEG_PATH: "none",
  };
  const options = { cwd: folder, env: { ...environment(bin), ...settings } };
  const command = join(folder, "node_modules/.bin/subtext");
  const service = spawn(command, ["serve"], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [service.stdout, service.stderr]) stream.on("data", (chunk) => (output += chunk));
  const subtext = (...args: string[]) => execFileSync(command, args, { ...options, encoding: "utf8" });
  try {
    const began = Date.now();
    while (
      !(await fetch(`${address}/readyz`).then(
        (reply) => reply.ok,
        () => false,
      ))
    ) {
      assert(
        service.exitCode === null && Date.now() - began < 120_000,
        `the service did not start:\n${output}`,
      );
      await sleep(200);
    }
    console.log(`ready after ${((Date.now() - began) / 1000).toFixed(1)} s`);
    for (const path of ["/", "/docs"]) {
      const page = await fetch(address + path);
      assert(page.ok && page.headers.get("content-type")?.startsWith("text/html"), `${path}: ${page.status}`);
    }
    subtext("env", "create", "Check", "--transcription", "on");
    const permissions = ["--permissions", "create_video,get_video"];
    const { key } = JSON.parse(subtext("keys", "create", "--env", "Check", ...permissions, "--json"));
    writeFileSync(
      join(folder, "upload.js"),
      `import { readFileSync } from "node:fs";
      import { Subtext } from ${JSON.stringify(PUBLISHED_NAMES["@subtext/client"])};
      const [baseUrl, apiKey, file] = process.argv.slice(2);
      const subtext = new Subtext({ baseUrl, apiKey });
      const { videoId } = await subtext.videos.upload(new Uint8Array(readFileSync(file)));
      const transcription = await subtext.transcriptions.wait(videoId);
      console.log(process.version, transcription.status, transcription.wordCount, transcription.failure ?? "");`,
    );
    const sample = join(ROOT, "demo/sample/sample.mp4");
    const result = execFileSync("node", ["upload.js", address, key, sample], {
      ...options,
      encoding: "utf8",
    });
    console.log(result.trim());
    assert.match(result, /^v\d\S* COMPLETED [1-9]/, output);
  } finally {
    service.kill("SIGTERM");
    if (service.exitCode === null) await once(service, "exit");
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
