import { execFile } from "node:child_process";
import { createSecretKey } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { contentDisposition, safeFileName } from "../../src/storage/content-disposition.ts";
import { openDiskTranscriptStore } from "../../src/storage/disk/disk-transcript-store.ts";
import { formatFileUrl, parseFileUrl } from "../../src/storage/disk/file-url.ts";
import { BASE_URL, startFilesApp, targetOf } from "../api/files-app.ts";
import { describeStorage } from "./storage-contract.ts";

describeStorage("the disk", async () => {
  const files = await startFilesApp(systemClock);
  return {
    transcripts: files.transcripts,
    fetchUrl: (url) => fetch(`http://127.0.0.1:${files.port}${targetOf(url)}`),
    close: files.close,
  };
});

const secret = new Uint8Array(32).fill(1);
const bytes = (content: string) => new TextEncoder().encode(content);

describe("the disk storage", () => {
  let top: string;
  beforeAll(async () => {
    top = await mkdtemp(join(tmpdir(), "subtext-disk-"));
  });
  afterAll(() => rm(top, { recursive: true }));

  const openIn = (name: string) =>
    openDiskTranscriptStore({ folder: join(top, name), baseUrl: BASE_URL, secret });

  it("creates its folder and its files for its own user only", async () => {
    const transcripts = await openIn("deep/er/modes");
    await transcripts.put("a/b", bytes("x"));
    const modes = ["deep/er/modes", "deep/er/modes/a", "deep/er/modes/a/b"].map(
      async (name) => (await stat(join(top, name))).mode & 0o777,
    );
    expect(await Promise.all(modes)).toEqual([0o700, 0o700, 0o600]);
  });

  it("finds its objects after it is reopened", async () => {
    await (await openIn("again")).put("a/b", bytes("kept"));
    expect(await text(await (await openIn("again")).read("a/b"))).toBe("kept");
  });

  it("sweeps unfinished files of a killed process, but not files that are being written", async () => {
    const folder = join(top, "sweep");
    await (await openIn("sweep")).put("a/b", bytes("x"));
    const [old, young] = ["old", "young"].map((name) => join(folder, "~unfinished", name));
    await writeFile(old!, "half");
    await writeFile(young!, "half");
    const anHourAgo = new Date(Date.now() - 3_600_000);
    await utimes(old!, anHourAgo, anHourAgo);
    const transcripts = await openIn("sweep");
    expect(await readdir(join(folder, "~unfinished"))).toEqual(["young"]);
    expect(await Array.fromAsync(transcripts.list(""))).toEqual(["a/b"]);
  });

  it("leaves no empty folder behind, and removes only its own", async () => {
    const transcripts = await openIn("prune");
    await transcripts.put("a/b/c/one", bytes("1"));
    await transcripts.put("a/two", bytes("2"));
    await transcripts.remove("a/b/c/one");
    expect(await readdir(join(top, "prune", "a"))).toEqual(["two"]);
    await transcripts.remove("a/two");
    expect(await readdir(join(top, "prune"))).toEqual(["~unfinished"]);
  });

  it("keeps an opened file readable after it is removed", async () => {
    const transcripts = await openIn("opened");
    await transcripts.put("a", bytes("still here"));
    const file = await transcripts.openFile("a");
    await transcripts.remove("a");
    expect(await text(file.stream({ start: 6, end: file.size - 1 }))).toBe("here");
  });

  it("gives different tags to two versions of the same length that are written in quick succession", async () => {
    const transcripts = await openIn("tags");
    const tags = new Set<string>();
    for (let version = 0; version < 10; version += 1) {
      await transcripts.put("a", bytes(String(version)));
      const file = await transcripts.openFile("a");
      tags.add(file.etag);
      await file.close();
    }
    expect(tags.size).toBe(10);
  });

  it("reports that a file cannot be stored, or that the storage is unavailable, if a folder is unusable", async () => {
    const transcripts = await openIn("blocked");
    await transcripts.put("a", bytes("x"));
    await expect(transcripts.put("a/b", bytes("y"))).rejects.toMatchObject({
      code: "storage_object_unusable",
      retryable: true,
    });
    await writeFile(join(top, "file"), "");
    await expect(openIn("file/below")).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(await readdir(join(top, "blocked", "~unfinished"))).toEqual([]);
  });

  it("reports a failed check if it cannot write", async () => {
    const transcripts = await openIn("gone");
    await rm(join(top, "gone"), { recursive: true });
    await expect(transcripts.check()).rejects.toMatchObject({ code: "storage_unavailable" });
  });

  it("reports a full disk, keeps existing objects and leaves no partial ones", async (context) => {
    const mountPoint = join(top, "full");
    await mkdir(mountPoint);
    const script = `
      import { readdir } from "node:fs/promises";
      import { text } from "node:stream/consumers";
      import { openDiskTranscriptStore } from ${JSON.stringify(new URL("../../src/storage/disk/disk-transcript-store.ts", import.meta.url).href)};
      const storage = await openDiskTranscriptStore({
        folder: ${JSON.stringify(mountPoint)}, baseUrl: "https://a.example", secret: new Uint8Array(32) });
      await storage.put("a", new TextEncoder().encode("kept"));
      const error = await storage.put("a", new Uint8Array(1_000_000)).catch((caught) => caught);
      console.log(JSON.stringify({
        code: error.code, status: error.status, retryable: error.retryable,
        content: await text(await storage.read("a")),
        unfinished: await readdir(${JSON.stringify(join(mountPoint, "~unfinished"))}) }));`;
    const mountAndRun = 'mount -t tmpfs -o size=128k none "$1" && exec "$2" --input-type=module -e "$3"';
    const args = ["-rm", "sh", "-c", mountAndRun, "sh", mountPoint, process.execPath, script];
    const run = promisify(execFile);
    try {
      await run("unshare", ["-rm", "sh", "-c", 'mount -t tmpfs -o size=4k none "$1"', "sh", mountPoint]);
    } catch {
      context.skip("this machine does not allow mounting a small file system");
    }
    const { stdout } = await run("unshare", args);
    expect(JSON.parse(stdout)).toEqual({
      code: "storage_full",
      status: 507,
      retryable: true,
      content: "kept",
      unfinished: [],
    });
  });

  it("rejects a secret that can be guessed", async () => {
    const options = { folder: join(top, "weak"), baseUrl: BASE_URL, secret: new Uint8Array(8) };
    await expect(openDiskTranscriptStore(options)).rejects.toThrow(TypeError);
  });
});

describe("a file URL", () => {
  const claims = fc.record({
    key: fc.stringMatching(/^[a-z0-9]{1,20}$/),
    expires: fc.nat().map(String),
    fileName: fc.string({ unit: "grapheme" }),
    contentType: fc.constantFrom("text/vtt", "text/plain", "application/json"),
  });
  const key = createSecretKey(secret);
  const parse = (url: string, by = key) => {
    const [key = "", query = ""] = url.split("?");
    return parseFileUrl(key, query, by);
  };

  it("returns the claims that it was created with, whatever the name contains", () => {
    fc.assert(
      fc.property(claims, (written) => {
        expect(parse(formatFileUrl(written, key))).toEqual(written);
      }),
    );
  });

  it("is invalid under another secret", () => {
    const other = createSecretKey(new Uint8Array(32).fill(2));
    fc.assert(
      fc.property(claims, (written) => {
        expect(parse(formatFileUrl(written, key), other)).toBeNull();
      }),
    );
  });

  it("has a signature that is invalid for any other claims", () => {
    fc.assert(
      fc.property(claims, claims, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        const [signature] = formatFileUrl(one, key).match(/signature=[^&]+$/) ?? [];
        const forged = formatFileUrl(other, key).replace(/signature=[^&]+$/, signature ?? "");
        expect(parse(forged)).toBeNull();
      }),
    );
  });
});

describe("the name of a downloaded file", () => {
  it("is valid on every file system", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (name) => {
        const safe = safeFileName(name);
        expect(safe).toMatch(/^[^/\\:*?"<>|\p{Cc}]{1,150}$/u);
        expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(255);
        expect(safe).not.toMatch(/^\./);
        expect(safe.isWellFormed()).toBe(true);
      }),
    );
  });

  it("keeps its extension if it is truncated, and is never cut inside a character", () => {
    const family = "👨‍👩‍👧‍👦";
    expect(safeFileName(`${"a".repeat(500)}.vtt`)).toBe(`${"a".repeat(146)}.vtt`);
    expect(safeFileName(`${family.repeat(100)}.vtt`)).toBe(`${family.repeat(10)}.vtt`);
  });

  it("cannot be made to show an extension that it does not have", () => {
    expect(safeFileName("invoice\u202Etxt.exe")).toBe("invoicetxt.exe");
  });

  it("is in the header twice: in ASCII and in full", () => {
    expect(contentDisposition('Señal 100% "ok" (日本).vtt', "text/vtt")).toBe(
      "inline; filename=\"Senal 100_ _ok_ (__).vtt\"; filename*=UTF-8''Se%C3%B1al%20100%25%20_ok_%20%28%E6%97%A5%E6%9C%AC%29.vtt",
    );
  });

  it.each([
    ['a＂; filename=evil.html; x="', "a_; filename=evil.html; x=_"],
    ["a﹨＂; filename=evil.html", "a__; filename=evil.html"],
    ["a＼＂; filename=evil.html", "a__; filename=evil.html"],
    ["．．／evil.html", "_evil.html"],
  ])("cannot end its quoted string with compatibility characters: %s", (name, ascii) => {
    expect(contentDisposition(name, "text/vtt").split(`; filename*=`)[0]).toBe(`inline; filename="${ascii}"`);
  });

  it("is offered only as a download if a browser could execute the file", () => {
    expect(contentDisposition("a.html", "text/html")).toMatch(/^attachment;/);
  });

  it("always results in a valid HTTP header", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        expect(contentDisposition(name, "text/plain")).toMatch(
          /^inline; filename="[^"\\%]+"; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+$/,
        );
      }),
      // A combining mark and nothing else; characters that normalization turns into quotes and backslashes.
      { examples: [["\u{10376}"], ["＂"], ["﹨"], ["＼"]], numRuns: 1000 },
    );
  });
});
