import { execFile } from "node:child_process";
import { chmod, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeDecoders } from "@subtext/speech/media/open-decoder";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { diagnose } from "../../src/health/doctor.ts";
import { freePort } from "../support/free-port.ts";
import { HEALTHY_CHECKS } from "../support/healthy-checks.ts";
import { temporaryFolder } from "../support/service.ts";

const SUBTEXT = join(import.meta.dirname, "../../bin/subtext.js");

async function decoderOf(ffmpegPath: string) {
  const config = readConfig({ DATA_DIR: await temporaryFolder(), FFMPEG_PATH: ffmpegPath });
  const findings = await diagnose(config, HEALTHY_CHECKS);
  return findings.find(({ name }) => name === "decoder");
}

test("the doctor reports an FFMPEG_PATH that is not ffmpeg, even if another decoder is available", async () => {
  const program = join(await temporaryFolder(), "ffmpeg");
  expect(await decoderOf(program)).toMatchObject({
    status: "missing",
    remedy: expect.stringContaining(`${program} does not exist.`),
  });
  await writeFile(program, "#!/bin/sh\necho something else\n");
  await chmod(program, 0o755);
  expect(await decoderOf(program)).toMatchObject({
    status: "missing",
    remedy: expect.stringContaining(`${program} is not a working ffmpeg`),
  });
});

// The npm decoder is an optional dependency.
const hasNodeAv = (await describeDecoders({ ffmpegPath: "none" })).some(({ usable }) => usable);

test.skipIf(!hasNodeAv)("the doctor accepts the npm decoder if ffmpeg is turned off", async () => {
  expect(await decoderOf("none")).toMatchObject({ detail: expect.stringMatching(/^node-av \d/) });
});

test("the service does not start with the path of a missing ffmpeg, and changes no data", async () => {
  const folder = await temporaryFolder();
  const env = {
    PATH: process.env.PATH,
    DATA_DIR: folder,
    PORT: String(await freePort()),
    MODEL_DOWNLOAD: "off",
    FFMPEG_PATH: join(folder, "ffmpeg"),
  };
  const { code, err } = await new Promise<{ code: unknown; err: string }>((resolve) => {
    const options = { env, cwd: tmpdir(), timeout: 45_000, killSignal: "SIGKILL" as const };
    execFile(process.execPath, [SUBTEXT, "serve"], options, (error, _out, err) =>
      resolve({ code: error?.code ?? null, err }),
    );
  });
  expect(code).toBe(1);
  expect(err).toBe(
    `subtext: FFMPEG_PATH=${env.FFMPEG_PATH} is invalid: ${env.FFMPEG_PATH} does not exist. ` +
      "Configure the path of ffmpeg 5.1 or newer with ffprobe in the same folder, or remove the setting.\n",
  );
  expect(await readdir(folder)).toEqual([]);
});
