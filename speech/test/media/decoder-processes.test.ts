import { execFileSync, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { DecoderProcess } from "../../src/media/decoder-process.ts";
import { openFfmpeg } from "../../src/media/ffmpeg.ts";
import { describeDecoders, openDecoder } from "../../src/media/open-decoder.ts";
import { decodeAll, decoders } from "../support/media-decoding.ts";
import { fixture, written } from "../support/media-files.ts";
import { FAILING_NATIVE_CODE, preloadInChildren } from "../support/processes.ts";

/** Long enough that its decoding does not end on its own while a test runs. */
const LONG = fixture("silence-13h.flac");
const LIMIT = 24 * 3600;
const never = new AbortController().signal;

/** Ids of the processes that a process started and that still run. */
function childrenOf(pid: number): number[] {
  const lines = execFileSync("ps", ["-A", "-o", "ppid=,pid=,stat="], { encoding: "utf8" }).split("\n");
  const processes = lines.map((line) => line.trim().split(/\s+/));
  return processes
    .filter(([parent, , state]) => Number(parent) === pid && !state?.startsWith("Z"))
    .map(([, child]) => Number(child));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "subtext-media-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe.each(decoders)("the process of %s", (name, decoder) => {
  test("is gone when reading stops before the end", async () => {
    const before = childrenOf(process.pid);
    const probe = await decoder.probe(LONG, never);
    const audio = decoder.decode(LONG, { probe, maxDurationSeconds: LIMIT, signal: never });
    let started: number[] = [];
    for await (const chunk of audio.chunks) {
      expect(chunk).toHaveLength(16_000);
      started = childrenOf(process.pid).filter((pid) => !before.includes(pid));
      break;
    }
    expect(started.length).toBeGreaterThan(0);
    await vi.waitFor(() => expect(started.filter(isRunning)).toEqual([]), { timeout: 5000 });
    expect(() => audio.summary()).toThrow("before the last chunk");
  });

  test("is gone when the signal aborts, with the signal's reason", async () => {
    const abort = new AbortController();
    const probe = await decoder.probe(LONG, never);
    const { chunks } = decoder.decode(LONG, { probe, maxDurationSeconds: LIMIT, signal: abort.signal });
    const reading = (async () => {
      for await (const _ of chunks) abort.abort(new Error("the video was deleted"));
    })();
    await expect(reading).rejects.toThrow("the video was deleted");
  });

  test("is not started for a signal that has aborted before", async () => {
    const reason = new Error("too late");
    await expect(decoder.probe(LONG, AbortSignal.abort(reason))).rejects.toThrow("too late");
  });

  test("ends when its parent is killed", async () => {
    const script = fileURLToPath(new URL("./decoder-parent.ts", import.meta.url));
    const parent = spawn(process.execPath, [script, name, LONG], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => parent.stdout.once("data", resolve));
    const orphans = childrenOf(parent.pid!);
    expect(orphans.length).toBeGreaterThan(0);
    parent.kill("SIGKILL");
    await vi.waitFor(() => expect(orphans.filter(isRunning)).toEqual([]), { timeout: 10_000 });
  });

  test("runs beside others without mixing them up", async () => {
    const names = ["mp4-aac-beeps.mp4", "silence-aac.mp4", "gap-6s.webm"];
    const results = await Promise.all(names.map((file) => decodeAll(decoder, fixture(file))));
    expect(results.map(({ onsets }) => onsets.length)).toEqual([3, 0, 3]);
  });
});

describe("a decoder's process", () => {
  const options = { prlimit: null, memory: "address-space", signal: never } as const;
  const shell = (script: string, timeoutSeconds: number) =>
    new DecoderProcess({ ...options, command: "sh", args: ["-c", script], timeoutSeconds });

  test("is ended when it lets its reader wait too long", async () => {
    const reading = shell("echo first; sleep 60", 0.2).text();
    await expect(reading).rejects.toMatchObject({ code: "decoder_crashed", retryable: true });
  });

  test("may take all the time that its reader takes", async () => {
    const child = shell("yes | head -c 1000000", 1);
    let bytes = 0;
    for await (const chunk of child.output()) {
      if (bytes === 0) await setTimeout(1500);
      bytes += chunk.length;
    }
    expect(bytes).toBe(1_000_000);
  });

  test("is reported apart from one that crashed", async () => {
    await expect(shell("kill -SEGV $$", 10).text()).rejects.toMatchObject({ code: "decoder_crashed" });
    expect(await shell("echo done; exit 1", 10).text()).toBe("done\n");
  });

  test("gets nothing of this process's environment", async () => {
    const names = (await shell("env", 10).text()).split("\n").map((line) => line.split("=")[0]);
    expect(
      names.filter((name) => !["PATH", "LC_ALL", "PWD", "_", "SHLVL", "OLDPWD", ""].includes(name!)),
    ).toEqual([]);
  });
});

describe("the choice of a decoder", () => {
  test("there is one on this machine", async () => {
    const decoder = await openDecoder();
    expect(decoder.name).toMatch(/^(ffmpeg|node-av) \d+\.\d+/);
    const usable = (await describeDecoders()).find((description) => description.usable);
    expect(decoder.name).toContain(usable!.name);
  });

  test("leaves ffmpeg aside when reported so", async () => {
    const [ffmpeg] = await describeDecoders({ ffmpegPath: "none" });
    expect(ffmpeg).toMatchObject({ name: "ffmpeg", usable: false });
  });

  const hasNodeAv = decoders.some(([name]) => name === "node-av");
  test.skipIf(!hasNodeAv)("says why node-av cannot be loaded where it is installed", async () => {
    const own = join(folder, "unloadable");
    await mkdir(own);
    preloadInChildren(own, FAILING_NATIVE_CODE);
    const reason = /^The npm package node-av \S+ is installed but cannot be loaded: .*GLIBC_9\.9' not found$/;
    const [ffmpeg, nodeAv] = await describeDecoders({ ffmpegPath: "none" });
    expect(nodeAv).toMatchObject({ usable: false, advice: expect.stringMatching(reason) });
    expect(ffmpeg?.advice).toBe("The settings disable ffmpeg. Allow it.");
    await expect(openDecoder({ ffmpegPath: "none" })).rejects.toMatchObject({
      code: "decoder_unavailable",
      message: `Recordings cannot be decoded on this machine. ${ffmpeg?.advice} ${nodeAv?.advice}`,
    });
  });

  test("takes no other for one that is named and cannot be used, and says why", async () => {
    await mkdir(join(folder, "unusable"));
    const file = async (name: string, mode: number) => {
      const path = await written(join(folder, "unusable"), name, "#!/bin/sh\necho a program\n");
      await chmod(path, mode);
      return path;
    };
    const reasons = {
      [join(folder, "unusable/ffmpeg")]: "does not exist",
      [join(folder, "unusable")]: "is not a file",
      [await file("ffmpeg-text", 0o644)]: "is not executable",
      [await file("ffmpeg-other", 0o755)]: "is not a working ffmpeg",
      "ffmpeg-that-nobody-has": "was found on the PATH",
    };
    for (const [ffmpegPath, reason] of Object.entries(reasons)) {
      await expect(openDecoder({ ffmpegPath })).rejects.toMatchObject({
        code: "decoder_unavailable",
        message: expect.stringContaining(reason),
      });
      // Also where node-av is there: it would not be taken.
      expect(await describeDecoders({ ffmpegPath })).toEqual([
        { name: "ffmpeg", version: null, usable: false, advice: expect.stringContaining(ffmpegPath) },
      ]);
    }
  });

  test.each([
    ["4.4.2", "libavformat    58. 76.100 / 58. 76.100", false],
    ["5.0.1", "libavformat    59. 16.100 / 59. 16.100", false],
    ["5.1", "libavformat    59. 27.100 / 59. 27.100", true],
    ["N-118000-g1234567", "libavformat    61.  9.107 / 61.  9.107", true],
  ])("takes ffmpeg %s with %s: %s", async (version, library, supported) => {
    const path = join(folder, version, "ffmpeg");
    for (const program of ["ffmpeg", "ffprobe"]) {
      const says = `#!/bin/sh\necho "${program} version ${version} Copyright"\necho "${library}"\n`;
      await mkdir(join(folder, version), { recursive: true });
      await chmod(await written(join(folder, version), program, says), 0o755);
    }
    expect((await openFfmpeg({ ffmpegPath: path })) !== null).toBe(supported);
    const [described] = await describeDecoders({ ffmpegPath: path });
    expect(described).toMatchObject({ version, usable: supported });
  });
});
