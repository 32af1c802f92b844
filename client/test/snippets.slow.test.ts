import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PUBLISHED_NAMES } from "../../packaging/names.ts";
import { seedTranscript } from "../../server/test/support/seed-transcript.ts";
import { createTenant, shareService } from "../../server/test/support/service.ts";
import { blocksRunBy } from "../../test/support/documented-blocks.ts";
import { Subtext } from "../src/client.ts";
import { EVENTS } from "../src/contract/examples.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");
const service = shareService();

interface Snippet {
  page: string;
  language: "ts" | "js";
  /** Declarations that the block needs from its surrounding program. */
  before: string;
  after?: string;
}

const client = `
  import { openAsBlob } from "node:fs";
  import { Subtext, uploadTo } from "@subtext/client";
  const subtext = new Subtext({ baseUrl: process.env.SUBTEXT_URL!, apiKey: process.env.SUBTEXT_API_KEY });`;

/** The code blocks of each page, in order. */
const SNIPPETS: Record<string, Snippet> = {
  quickStart: {
    page: "docs/client.md",
    language: "ts",
    before: "",
    after: "console.log(transcription.status);",
  },
  correction: {
    page: "docs/client.md",
    language: "ts",
    before: "",
    after: `const [videoId = "", ...replacements] = process.argv.slice(2);
      const changes = replacements.map((each) => each.split("=") as [string, string]);
      // All at once: the changes that come too late are repeated on the current words.
      const revisions = await Promise.all(changes.map(([wrong, right]) => replaceWord(videoId, wrong, right)));
      console.log(revisions.sort().join(" "));`,
  },
  webhook: {
    page: "docs/client.md",
    language: "ts",
    before: `declare global { function enqueue(id: string, videoId: string): Promise<void>; }
      globalThis.enqueue = async (...args) => console.log(args.join(" "));`,
    after: `const [headers = "", body = ""] = process.argv.slice(2);
      const init = { method: "POST", headers: JSON.parse(headers), body };
      console.log((await POST(new Request("http://127.0.0.1/", init))).status);`,
  },
  page: {
    page: "docs/client.md",
    language: "ts",
    before: `${client}
      const file = await openAsBlob("meeting.mp4");
      const [sizeBytes, filename, signal] = [file.size, "meeting.mp4", new AbortController().signal];
      const onProgress = ({ sentBytes }: { sentBytes: number }) => void sentBytes;`,
    after: "console.log((await subtext.videos.get(video.id)).status);",
  },
  tus: {
    page: "docs/api.md",
    language: "js",
    before: `${client}
      import { readFileSync } from "node:fs";
      import * as tus from "tus-js-client";
      const bytes = readFileSync("meeting.mp4");
      const file = bytes as unknown as File;
      const { upload: ticket } = await subtext.videos.create({ sizeBytes: bytes.length });
      void [openAsBlob, uploadTo];`,
  },
  server: {
    page: "docs/uploading.md",
    language: "js",
    before: "// @ts-nocheck: the types are those of browsers",
  },
  uppy: {
    page: "docs/api.md",
    language: "js",
    before: `import { Uppy } from "@uppy/core";
      import Tus from "@uppy/tus";
      declare const yourServer: {
        createVideo(video: { filename: string; sizeBytes: number | null }): Promise<{ upload: { url: string } }>;
      };`,
  },
};

let project = "";

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "subtext-snippets-"));
  await symlink(join(ROOT, "node_modules"), join(project, "node_modules"));
  await copyFile(join(ROOT, "demo/sample/sample.mp4"), join(project, "meeting.mp4"));
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
  for (const page of new Set(Object.values(SNIPPETS).map((snippet) => snippet.page))) {
    const published = PUBLISHED_NAMES["@subtext/client"]!;
    const text = (await readFile(join(ROOT, page), "utf8")).replaceAll(published, "@subtext/client");
    const snippets = Object.entries(SNIPPETS).filter(([, snippet]) => snippet.page === page);
    const [, first] = snippets[0]!;
    const blocks = [...text.matchAll(/```(ts|js|tsx|jsx|typescript|javascript)\n(.*?)```/gs)];
    expect([page, blocks.map(([, language]) => language)]).toEqual([
      page,
      snippets.map(() => first.language),
    ]);
    for (const [place, [name, { before, after = "" }]] of snippets.entries()) {
      await writeFile(join(project, `${name}.ts`), `${before}\n${blocks[place]![2]}\n${after}\nexport {};\n`);
    }
  }
});
afterAll(() => rm(project, { recursive: true, force: true }));

/** Runs the snippet as a process against the service of this test. Returns its output. */
async function runSnippet(name: string, ...args: string[]): Promise<string> {
  return await runSnippetWith((await createTenant(service)).key, name, ...args);
}

async function runSnippetWith(key: string, name: string, ...args: string[]): Promise<string> {
  const file = join(project, `${name}.ts`);
  const program = (await readFile(file, "utf8")).replace("https://subtext.example.com", service.url);
  await writeFile(file, program);
  const { stdout } = await run(process.execPath, [file, ...args], {
    cwd: project,
    env: { ...process.env, SUBTEXT_URL: service.url, SUBTEXT_API_KEY: key, SUBTEXT_WEBHOOK_SECRET: SECRET },
  });
  return stdout.trim();
}

const SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

describe("the programs in the documentation", () => {
  test("compile unchanged", async () => {
    const config = {
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        module: "nodenext",
        target: "es2024",
        lib: ["es2024", "dom", "dom.iterable"],
        types: ["node"],
        allowImportingTsExtensions: true,
        skipLibCheck: true,
      },
      include: ["*.ts"],
    };
    await writeFile(join(project, "tsconfig.json"), JSON.stringify(config));
    const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
    const result = await run(process.execPath, [compiler, "-p", project]).catch(({ stdout }) => ({ stdout }));
    expect(result.stdout).toBe("");
  });

  test("upload a recording, wait for it and read its words, captions and text", {
    timeout: 180_000,
  }, async () => {
    expect((await runSnippet("quickStart")).split("\n").at(-1)).toBe("COMPLETED");
  });

  test("correct words, and repeat the change if somebody else has changed the transcript", async () => {
    const { environmentId, key } = await createTenant(service);
    const text = "Their is a meeting on Tusday.";
    const { videoId } = await seedTranscript(service.service, { environmentId, language: "en", text });
    const printed = await runSnippetWith(key, "correction", videoId, "Their=There", "Tusday.=Tuesday.");
    expect(printed).toBe("1 2");
    const subtext = new Subtext({ baseUrl: service.url, apiKey: key });
    expect(await subtext.transcriptions.text(videoId)).toBe("There is a meeting on Tuesday.\n");
  });

  test("receive a webhook", async () => {
    const event = EVENTS["transcriptions.transcription.completed"];
    const body = JSON.stringify(event);
    const now = new Date();
    const headers = {
      "webhook-id": "event_1",
      "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
      "webhook-signature": new Webhook(SECRET).sign("event_1", now, body),
    };
    const printed = await runSnippet("webhook", JSON.stringify(headers), body);
    expect(printed.split("\n")).toEqual([`event_1 ${event.data.videoId}`, "204"]);
  });

  test("upload from a page with a URL from its server", async () => {
    expect(await runSnippet("page")).toBe("uploaded");
  });

  test("upload with tus-js-client and a URL from a server", async () => {
    expect(await runSnippet("tus")).toBe("done");
  });

  test("upload with tus-js-client and a key, also in chunks", async () => {
    expect(await runSnippet("server")).toMatch(/^video video_\w+$/);
  });

  test("include all blocks that the documentation says this test runs", () => {
    const pages = Object.values(SNIPPETS).map(({ page }) => page);
    for (const { page, language } of blocksRunBy(import.meta.filename)) {
      expect([page, language]).toEqual([page, page === "docs/client.md" ? "ts" : "js"]);
      expect(pages).toContain(page);
    }
  });
});
