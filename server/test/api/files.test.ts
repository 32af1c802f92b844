import { createSecretKey } from "node:crypto";
import { access, readdir, readlink, rm, truncate } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parseByteRange } from "../../src/http/send-file.ts";
import { formatFileUrl } from "../../src/storage/disk/file-url.ts";
import { type FilesApp, startFilesApp } from "./files-app.ts";

const MADE_AT = new Date("2026-03-04T05:06:07.000Z");
/** 300 seconds after its creation. */
const EXPIRES_AT = MADE_AT.getTime() + 300_000;

describe("a file of a transcript over HTTP", () => {
  let now = MADE_AT;
  let files: FilesApp;
  const streams: Readable[] = [];
  /** Open files, whose stream has not closed either. */
  let unclosed = 0;
  beforeAll(async () => {
    files = await startFilesApp({ now: () => now }, (transcripts) => ({
      async openFile(key) {
        const file = await transcripts.openFile(key);
        unclosed += 1;
        return {
          ...file,
          stream(range) {
            const stream = file.stream(range);
            streams.push(stream);
            stream.on("close", () => {
              unclosed -= 1;
            });
            return stream;
          },
          async close() {
            await file.close();
            unclosed -= 1;
          },
        };
      },
    }));
  });
  afterAll(() => files.close());

  const problemOf = (body: Buffer) => JSON.parse(body.toString()) as { code: string };
  const at = async <T>(time: number, act: () => Promise<T>): Promise<T> => {
    now = new Date(time);
    try {
      return await act();
    } finally {
      now = MADE_AT;
    }
  };
  /** A correctly signed target, with claims that the service would never create. */
  const signed = (claims: { key?: string; expires?: string }) =>
    `/files/${formatFileUrl(
      { key: "made/1", expires: "9999999999", fileName: "a.txt", contentType: "text/plain", ...claims },
      createSecretKey(files.secret),
    )}`;

  it("is served in full, with all headers that browsers and track elements need", async () => {
    const target = await files.urlFor("WEBVTT\n\né", { name: "Señal.vtt", type: "text/vtt" });
    const answer = await files.send(target, { headers: { origin: "https://player.example" } });
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).toBe("WEBVTT\n\né");
    expect(answer.headers).toMatchObject({
      "content-type": "text/vtt; charset=utf-8",
      "content-length": "10",
      "content-disposition": "inline; filename=\"Senal.vtt\"; filename*=UTF-8''Se%C3%B1al.vtt",
      "cache-control": "private, no-store",
      "accept-ranges": "bytes",
      "access-control-allow-origin": "*",
      "access-control-expose-headers": expect.stringContaining("Content-Range"),
      "cross-origin-resource-policy": "cross-origin",
      "x-content-type-options": "nosniff",
      etag: expect.stringMatching(/^"[^"]+"$/),
    });
  });

  it("answers HEAD with the same headers and no body", async () => {
    const target = await files.urlFor("twelve bytes");
    const [get, head] = [await files.send(target), await files.send(target, { method: "HEAD" })];
    expect(head.status).toBe(200);
    expect(head.body).toHaveLength(0);
    const { date: _get, ...expected } = get.headers;
    const { date: _head, ...actual } = head.headers;
    expect(actual).toEqual(expected);
    expect(actual["content-length"]).toBe("12");
  });

  it("is served if it is empty, whatever range is requested", async () => {
    const target = await files.urlFor("");
    for (const headers of [{}, { range: "bytes=0-" }, { range: "bytes=-5" }]) {
      const answer = await files.send(target, { headers });
      expect([answer.status, answer.headers["content-length"]]).toEqual([200, "0"]);
    }
  });

  it("answers a preflight without checking the URL's signature", async () => {
    const answer = await files.send("/files/any/thing", {
      method: "OPTIONS",
      headers: { origin: "https://player.example", "access-control-request-method": "GET" },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, HEAD",
      "access-control-allow-headers": expect.stringContaining("Range"),
    });
  });

  it("lists the allowed methods in response to any other", async () => {
    const answer = await files.send(await files.urlFor("x"), { method: "DELETE" });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe("GET, HEAD, OPTIONS");
    expect(problemOf(answer.body)).toMatchObject({ code: "method_not_allowed" });
  });

  it("is served until the last millisecond before its expiry, and not after", async () => {
    const target = await files.urlFor("x");
    const last = await at(EXPIRES_AT - 1, () => files.send(target));
    expect(last.status).toBe(200);
    for (const time of [EXPIRES_AT, EXPIRES_AT + 1, EXPIRES_AT + 86_400_000]) {
      const answer = await at(time, () => files.send(target));
      expect(answer.status).toBe(403);
      expect(answer.headers["access-control-allow-origin"]).toBe("*");
      expect(problemOf(answer.body)).toMatchObject({
        code: "file_url_expired",
        instance: target.split("?")[0],
      });
    }
  });

  it("does not report that an altered URL has expired", async () => {
    const target = (await files.urlFor("x")).replace("a.txt", "b.txt");
    const answer = await at(EXPIRES_AT, () => files.send(target));
    expect(problemOf(answer.body)).toMatchObject({ code: "file_url_invalid" });
  });

  it("reports that it is gone once it was removed", async () => {
    const target = await files.urlFor("x");
    await files.transcripts.remove(target.slice("/files/".length).split("?")[0]!);
    const answer = await files.send(target);
    expect(answer.status).toBe(404);
    expect(problemOf(answer.body)).toMatchObject({ code: "file_not_found" });
  });

  it("is never served for a URL in which any one character was changed", async () => {
    const target = await files.urlFor("secret");
    const change = fc.record({
      position: fc.integer({ min: 1, max: target.length - 1 }),
      character: fc.constantFrom(..."aZ09-_.~%&=?/#+;'\"<"),
      how: fc.constantFrom("replace", "insert", "delete"),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ position, character, how }) => {
        const rest = target.slice(position + (how === "insert" ? 0 : 1));
        const altered = target.slice(0, position) + (how === "delete" ? "" : character) + rest;
        fc.pre(!saysTheSame(altered, target));
        const answer = await files.send(altered);
        expect([400, 403, 404]).toContain(answer.status);
        expect(answer.headers["content-type"]).toMatch(/^application\/problem\+json/);
        expect(answer.body.toString()).not.toContain("secret");
      }),
      { numRuns: 300 },
    );
  });

  describe("is not served for manipulated URLs", () => {
    const cases: Record<string, (target: string) => string> = {
      "without a query": (target) => target.split("?")[0]!,
      "without a signature": (target) => target.replace(/&signature=.*$/, ""),
      "with an empty signature": (target) => target.replace(/signature=.*$/, "signature="),
      "with the signature in hexadecimal": (target) =>
        target.replace(/signature=(.*)$/, (_, signature: string) => {
          return `signature=${Buffer.from(signature, "base64url").toString("hex").toUpperCase()}`;
        }),
      "with padding behind the signature": (target) => `${target}=`,
      "with another spelling of the same signature bytes": (target) =>
        target.slice(0, -1) + sameBytesOtherLetter(target.at(-1)!),
      "with a second expiry before": (target) => target.replace("?", "?expires=9999999999&"),
      "with a second expiry behind": (target) => `${target}&expires=9999999999`,
      "with a second signature": (target) => `${target}&signature=x`,
      "with an additional parameter": (target) => `${target}&download=1`,
      "with another name": (target) => target.replace("name=a.txt", "name=a.html"),
      "with another type": (target) => target.replace("text%2Fplain", "text%2Fhtml"),
      "with the name moved into the type": (target) =>
        target.replace("name=a.txt&type=text%2Fplain", "name=&type=a.txttext%2Fplain"),
      "with an encoded slash in the key": (target) => target.replace("made/", "made%2F"),
      "with a letter of the key encoded": (target) => target.replace("/made", "/%6dade"),
      "with a slash doubled": (target) => target.replace("made/", "made//"),
      "with a dot segment": (target) => target.replace("made/", "made/./"),
      "with a way up and down again": (target) => target.replace("made/", "made/../made/"),
      "with an encoded way up": (target) => target.replace("made/", "made/%2e%2e/made/"),
      "with NUL behind the key": (target) => target.replace("?", "%00?"),
      "with a backslash in the key": (target) => target.replace("made/", "made\\"),
      "with the expiry written as a float": (target) => target.replace(/expires=(\d+)/, "expires=$1.0"),
      "with the expiry written with a sign": (target) => target.replace(/expires=/, "expires=%2B"),
      "with an absurd expiry": (target) => target.replace(/expires=\d+/, "expires=1e400"),
      "with a negative expiry": (target) => target.replace(/expires=\d+/, "expires=-1"),
    };
    for (const [name, alter] of Object.entries(cases)) {
      it(name, async () => {
        const target = await files.urlFor("secret");
        const altered = alter(target);
        expect(altered).not.toBe(target);
        const answer = await files.send(altered);
        expect(answer.status).toBe(403);
        expect(problemOf(answer.body)).toMatchObject({ code: "file_url_invalid", status: 403 });
      });
    }

    it("with the key of another file", async () => {
      const [own, other] = [await files.urlFor("own"), await files.urlFor("secret")];
      const answer = await files.send(`${other.split("?")[0]}?${own.split("?")[1]}`);
      expect([answer.status, problemOf(answer.body).code]).toEqual([403, "file_url_invalid"]);
    });

    it("with a path that cannot be decoded", async () => {
      const answer = await files.send("/files/%zz?expires=1");
      expect(answer.status).toBe(400);
      expect(answer.headers["content-type"]).toMatch(/^application\/problem\+json/);
      expect(problemOf(answer.body)).toMatchObject({ code: "invalid_request", instance: "/files/%zz" });
    });

    it("that leave the folder, even if the signature is valid", async () => {
      for (const key of [
        "../outside",
        "made/../../outside",
        "~unfinished/x",
        "%2e%2e/outside",
        "/etc/passwd",
      ]) {
        const answer = await files.send(signed({ key }));
        expect([answer.status, problemOf(answer.body).code]).toEqual([403, "file_url_invalid"]);
      }
    });

    it("that name a folder, even if the signature is valid", async () => {
      const answer = await files.send(signed({ key: "made" }));
      expect(problemOf(answer.body)).toMatchObject({ code: "file_not_found" });
    });
  });

  describe("in parts", () => {
    const content = "0123456789";
    let target: string;
    beforeAll(async () => {
      target = await files.urlFor(content);
    });

    for (const [range, body, contentRange] of [
      ["bytes=0-0", "0", "bytes 0-0/10"],
      ["bytes=2-5", "2345", "bytes 2-5/10"],
      ["bytes=7-", "789", "bytes 7-9/10"],
      ["bytes=-3", "789", "bytes 7-9/10"],
      ["bytes=-30", content, "bytes 0-9/10"],
      ["bytes=0-99999999999999999999999", content, "bytes 0-9/10"],
      ["BYTES=0-1", "01", "bytes 0-1/10"],
    ] as const) {
      it(`returns ${JSON.stringify(body)} for ${range}`, async () => {
        const answer = await files.send(target, { headers: { range } });
        expect([answer.status, answer.body.toString()]).toEqual([206, body]);
        expect(answer.headers).toMatchObject({
          "content-range": contentRange,
          "content-length": String(body.length),
          "content-type": "text/plain; charset=utf-8",
        });
      });
    }

    for (const range of ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999999-"]) {
      it(`is not satisfiable for ${range}`, async () => {
        const answer = await files.send(target, { headers: { range } });
        expect(answer.status).toBe(416);
        expect(answer.headers["content-range"]).toBe("bytes */10");
        expect(answer.headers.etag).toBeUndefined();
        expect(problemOf(answer.body)).toMatchObject({ code: "range_not_satisfiable" });
      });
    }

    for (const range of [
      "bytes=0-1,3-4",
      "items=0-1",
      "bytes=5-2",
      "bytes=a-b",
      "bytes=--1",
      "bytes=",
      "0-1",
    ]) {
      it(`returns the whole file for ${range}`, async () => {
        const answer = await files.send(target, { headers: { range } });
        expect([answer.status, answer.body.toString()]).toEqual([200, content]);
      });
    }

    it("never returns a byte outside the range", () => {
      fc.assert(
        fc.property(fc.nat({ max: 50 }), fc.nat({ max: 60 }), fc.nat({ max: 60 }), (size, first, last) => {
          const range = parseByteRange(`bytes=${first}-${last}`, size);
          const wanted = Array.from({ length: size }, (_, index) => index).filter(
            (index) => index >= first && index <= last,
          );
          if (size === 0 || last < first) expect(range).toBeNull();
          else if (wanted.length === 0) expect(range).toBe("unsatisfiable");
          else expect(range).toEqual({ start: wanted[0], end: wanted.at(-1) });
        }),
      );
    });

    it("ignores ranges in HEAD", async () => {
      const answer = await files.send(target, { method: "HEAD", headers: { range: "bytes=0-1" } });
      expect([answer.status, answer.headers["content-length"]]).toEqual([200, "10"]);
    });

    it("continues only if the file has not changed", async () => {
      const etag = (await files.send(target, { method: "HEAD" })).headers.etag!;
      const part = (ifRange: string) =>
        files.send(target, { headers: { range: "bytes=5-", "if-range": ifRange } });
      expect((await part(etag)).status).toBe(206);
      for (const other of ['"other"', `W/${etag}`, new Date(0).toUTCString()]) {
        expect((await part(other)).status).toBe(200);
      }
    });

    it("is not sent again to a client that has it", async () => {
      const etag = (await files.send(target, { method: "HEAD" })).headers.etag!;
      for (const value of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        for (const method of ["GET", "HEAD"]) {
          const answer = await files.send(target, { method, headers: { "if-none-match": value } });
          expect([answer.status, answer.body.length, answer.headers.etag]).toEqual([304, 0, etag]);
        }
      }
      const other = await files.send(target, { headers: { "if-none-match": '"other"' } });
      expect(other.status).toBe(200);
    });
  });

  it("is closed after every response", async () => {
    const target = await files.urlFor("0123456789");
    for (const headers of [{}, { range: "bytes=1-2" }, { range: "bytes=20-" }, { "if-none-match": "*" }]) {
      for (const method of ["GET", "HEAD"]) await files.send(target, { method, headers });
    }
    await vi.waitFor(() => expect(unclosed).toBe(0), { timeout: 5_000 });
  });

  it("is read no faster than a slow client receives it, and closed when the client disconnects", async (context) => {
    if (!(await hasProc())) context.skip("the open files of a process are read from /proc");
    const size = 200_000_000;
    const target = await files.urlFor("x");
    const path = join(files.folder, target.slice("/files/".length).split("?")[0]!);
    await truncate(path, size);

    streams.length = 0;
    const socket = connect(files.port, "127.0.0.1");
    socket.write(`GET ${target} HTTP/1.1\r\nhost: a\r\n\r\n`);
    await new Promise((resolve) => socket.once("readable", resolve));
    expect(await openBelow(files.folder)).toEqual([path]);
    const [stream] = streams as (Readable & { bytesRead: number })[];
    const read = await settled(() => stream!.bytesRead);
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(size / 4);

    socket.destroy();
    await vi.waitFor(async () => expect(await openBelow(files.folder)).toEqual([]), { timeout: 10_000 });
    await rm(path);
  });
});

/** Whether two targets have the same path and decoded parameters. */
function saysTheSame(one: string, other: string): boolean {
  const [parsedOne, parsedOther] = [one, other].map((target) => {
    const [path, ...query] = target.split("?");
    return JSON.stringify([path, [...new URLSearchParams(query.join("?"))]]);
  });
  return parsedOne === parsedOther;
}

/** Waits until a number has not grown for half a second. */
async function settled(read: () => number): Promise<number> {
  let last = -1;
  while (read() !== last) {
    last = read();
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return last;
}

async function hasProc(): Promise<boolean> {
  return access("/proc/self/fd").then(
    () => true,
    () => false,
  );
}

/** The paths below a folder that this process has open. */
async function openBelow(folder: string): Promise<string[]> {
  const links = (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ""));
  return (await Promise.all(links)).filter((path) => path.startsWith(folder));
}

/** In the last base64 character of 32 bytes, two bits are unused. */
function sameBytesOtherLetter(letter: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return alphabet[alphabet.indexOf(letter) ^ 1]!;
}
