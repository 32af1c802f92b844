import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildPackage } from "../build/build.ts";
import { startScriptedServer } from "./scripted-server.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");

let folder = "";
let tarball = "";
/** A project that has only the package installed, as npm packs it. */
let project = "";
let installed = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "subtext-client-"));
  const built = join(folder, "built");
  buildPackage(built);
  const packed = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: built });
  tarball = join(folder, JSON.parse(packed.stdout)[0].filename);
  project = join(folder, "project");
  installed = join(project, "node_modules/@subtext/client");
  await mkdir(installed, { recursive: true });
  await run("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the published package", () => {
  test("contains only JavaScript, types, its license and its README", async () => {
    const names = await readdir(installed, { recursive: true });
    const others = names.filter((name) => !/\.(js|js\.map|d\.ts)$/.test(name)).sort();
    expect(others).toEqual(["LICENSE", "README.md", "contract", "package.json"]);
    const modules = (await readdir(join(ROOT, "client/src"))).filter((name) => name.endsWith(".ts"));
    expect(names.filter((name) => name.endsWith(".d.ts") && !name.includes("/")).sort()).toEqual(
      modules.map((name) => name.replace(/\.ts$/, ".d.ts")).sort(),
    );
  });

  test("depends neither on other packages nor on Node.js", async () => {
    const { dependencies, private: isPrivate } = JSON.parse(
      await readFile(join(installed, "package.json"), "utf8"),
    );
    expect({ dependencies, isPrivate }).toEqual({});
    for (const name of await readdir(installed, { recursive: true })) {
      if (!/\.(js|d\.ts)$/.test(name)) continue;
      const text = await readFile(join(installed, name), "utf8");
      const imported = [...text.matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map(([, specifier]) => specifier);
      expect(imported.filter((specifier) => !/^\.\.?\/.*\.js$/.test(specifier ?? ""))).toEqual([]);
      expect(text).not.toMatch(/reference types|\bBuffer\b|\bprocess\./);
    }
  });

  test("passes publint", async () => {
    const { messages, pkg } = await publint({ pkgDir: installed, pack: false });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  test("has types that every module resolution finds, according to Are The Types Wrong", async () => {
    const analysis = await checkPackage(createPackageFromTarballData(await readFile(tarball)));
    if (analysis.types === false) throw new Error("it has no types");
    // Node 20.19 and later support `require` of ES modules.
    const problems = analysis.problems.filter(({ kind }) => kind !== "CJSResolvesToESM");
    expect(problems).toEqual([]);
  });

  test("verifies a webhook and calls a service when it is installed from the tarball", async () => {
    const { url } = await startScriptedServer({ body: { id: "video_1" } });
    const program = `
      import { Subtext, verifyWebhook, SubtextError, uploadTo } from "@subtext/client";
      const video = await new Subtext({ baseUrl: ${JSON.stringify(url)}, apiKey: "k" }).videos.get("video_1");
      const refused = await verifyWebhook({ headers: {}, body: "" }, "whsec_" + btoa("x".repeat(32))).catch((e) => e);
      console.log(video.id, refused instanceof SubtextError, refused.code, typeof uploadTo);
    `;
    await writeFile(join(project, "program.js"), program);
    const { stdout } = await run(process.execPath, ["program.js"], { cwd: project });
    expect(stdout.trim()).toBe("video_1 true webhook_header_missing function");
  });
});

describe("the types of the published package", () => {
  /** An integrator's program. It compiles only if the types are correct. */
  const PROGRAM = `
    import { type EndedTranscription, Subtext, type SubtextError, verifyWebhook, type WebhookEvent } from "@subtext/client";
    const subtext = new Subtext({ baseUrl: "https://captions.example", apiKey: null, fetch });
    export async function use(file: Blob, request: Request): Promise<string> {
      // @ts-expect-error: a client needs a key, or null
      void new Subtext({ baseUrl: "https://captions.example" });
      const left: undefined = undefined;
      const { videoId } = await subtext.videos.upload(file, { metadata: { a: "b" }, filename: left, signal: left });
      void subtext.videos.upload(new Uint8Array(7));
      const ended: EndedTranscription = await subtext.transcriptions.wait(videoId);
      for await (const video of subtext.videos.list({ transcriptionStatus: "COMPLETED" })) {
        const bytes: number | null = video.sizeBytes;
        if (video.status === "uploading") { const nothing: null = video.transcription; void nothing; }
        else if (video.transcription?.status === "FAILED") return video.transcription.failure.code;
        else if (video.transcription?.status === "SKIPPED") return video.transcription.skipReason;
        else void video.uploadedAt.length;
        // @ts-expect-error: there is no such state
        if (video.transcription?.status === "DONE") return String(bytes);
      }
      // @ts-expect-error: there is no such filter
      subtext.videos.list({ state: "COMPLETED" });
      // @ts-expect-error: endpoints need a URL
      void subtext.webhookEndpoints.create({ metadata: {} });
      const now = await subtext.transcriptions.get(videoId);
      if (now.status === "COMPLETED") return now.files.txt.url + now.language;
      const none: null = now.files;
      if (ended.status === "FAILED") return ended.failure.message + none;
      if (ended.status === "SKIPPED") {
        // @ts-expect-error: there is no such reason
        if (ended.skipReason === "too_quiet") return "";
        return ended.skipReason;
      }
      const isPartial: boolean = ended.incomplete;
      void isPartial;
      const { event } = await verifyWebhook(request, ["whsec_a"]);
      if (event.type === "transcriptions.transcription.completed") return event.data.files.txt.url;
      // @ts-expect-error: only COMPLETED has files
      now.files.vtt;
      return labelOf(event) + ended.files.vtt.url + ended.wordCount.toFixed();
    }
    function labelOf(event: WebhookEvent): string {
      switch (event.type) {
        case "transcriptions.transcription.completed": return event.data.files?.json.contentType ?? "";
        case "transcriptions.transcription.failed":
          // @ts-expect-error: there is no such code
          if (event.data.error.code === "unreadable_file") return "";
          return event.data.error.code;
        case "transcriptions.transcription.skipped": return event.data.reason;
        case "transcriptions.transcription.updated": return event.data.files?.vtt.contentType ?? "";
        case "webhooks.endpoint.test": return event.data.webhookEndpointId;
      }
    }
    export const isGone = (error: SubtextError) => error.code === "video_not_found";
    // @ts-expect-error: there is no such code
    export const isMistyped = (error: SubtextError) => error.code === "video_not_fund";
  `;

  async function compile(compiler: string, options: object, program: string): Promise<string> {
    const config = {
      compilerOptions: { strict: true, noEmit: true, target: "es2022", skipLibCheck: false, ...options },
      files: ["program.ts"],
    };
    await writeFile(join(project, "program.ts"), program);
    await writeFile(join(project, "tsconfig.json"), JSON.stringify(config));
    return await run(process.execPath, [join(ROOT, "node_modules", compiler, "bin/tsc"), "-p", project]).then(
      () => "",
      ({ stdout }) => stdout,
    );
  }

  const NEW = "typescript";
  const OLD = "@arethetypeswrong/core/node_modules/typescript";
  const DOM = { lib: ["es2022", "dom", "dom.iterable"], types: [] };

  test.each([
    [NEW, { module: "nodenext", ...DOM }],
    [NEW, { module: "esnext", moduleResolution: "bundler", ...DOM, exactOptionalPropertyTypes: true }],
    [OLD, { module: "esnext", moduleResolution: "bundler", ...DOM }],
  ])("compile a typical program with %s and %j", async (compiler, options) => {
    expect(await compile(compiler, options, PROGRAM)).toBe("");
  });

  test("compile a Node.js program that lacks browser types", async () => {
    await symlink(join(ROOT, "node_modules/@types"), join(project, "node_modules/@types"));
    await symlink(join(ROOT, "node_modules/undici-types"), join(project, "node_modules/undici-types"));
    const options = { module: "nodenext", lib: ["es2024"], types: ["node"], skipLibCheck: true };
    expect(await compile(NEW, options, PROGRAM)).toBe("");
  });

  test("match the types of the contract", async () => {
    const source = await readFile(join(ROOT, "client/src/types.ts"), "utf8");
    const names = [...source.matchAll(/^export type (\w+)/gm)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(20);
    const program = `
      import type * as Source from ${JSON.stringify(join(ROOT, "client/src/types.ts"))};
      import type * as Written from ${JSON.stringify(join(installed, "types.d.ts"))};
      type Same<A, B> = (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : [A, B];
      type Plain<T> = T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
      ${names.map((name) => `export const is${name}: Same<Source.${name}, Written.${name}> = true;`).join("\n")}
    `;
    const options = { module: "nodenext", ...DOM, lib: ["es2024", "dom"], allowImportingTsExtensions: true };
    const strictly = { ...options, exactOptionalPropertyTypes: true, skipLibCheck: true };
    expect(await compile(NEW, strictly, program)).toBe("");
    expect(
      await compile(
        NEW,
        strictly,
        `${program}\nexport const no: Same<Source.Video, Written.Delivery> = true;`,
      ),
    ).toContain("TS2322");
  });
});
