import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { settingAtFault } from "../../src/config/config-error.ts";
import { diagnose, examineProcessor, examineSpace, type HealthChecks } from "../../src/health/doctor.ts";
import type { Models } from "../../src/speech/models.ts";
import { describeMemory } from "../../src/speech/speech.ts";
import { hasSpace } from "../../src/storage/disk/disk-space.ts";
import { HEALTHY_CHECKS } from "../support/healthy-checks.ts";
import { temporaryFolder } from "../support/service.ts";

async function findingsOfEngine(engine: HealthChecks["engine"]) {
  const config = readConfig({ DATA_DIR: await temporaryFolder() });
  const findings = await diagnose(config, { ...HEALTHY_CHECKS, engine });
  return findings.filter(({ name }) => name === "engine");
}

test("the doctor reports the limitations of a loaded engine", async () => {
  const loaded = { text: "whisper-small (99 languages)", warnings: [] };
  expect(await findingsOfEngine(async () => loaded)).toEqual([
    { name: "engine", status: "ok", detail: "whisper-small (99 languages)", remedy: null },
  ]);
  const warnings = ["Word times are about right only."];
  expect(await findingsOfEngine(async () => ({ ...loaded, warnings }))).toEqual([
    {
      name: "engine",
      status: "warning",
      detail: "whisper-small (99 languages); Word times are about right only.",
      remedy: null,
    },
  ]);
});

test("the doctor says what to do about an engine that does not load", async () => {
  const findings = await findingsOfEngine(() => Promise.reject(new Error("The model is cut off.")));
  expect(findings).toEqual([
    { name: "engine", status: "missing", detail: "The model is cut off.", remedy: expect.any(String) },
  ]);
});

test("the doctor reports insufficient memory separately, with the required size", async () => {
  const config = readConfig({
    DATA_DIR: await temporaryFolder(),
    SPEECH_PROCESSES: "4",
    SPEECH_THREADS: "2",
  });
  const models = {
    stillInstalled: () => null,
    state: () => ({}),
    isExpected: () => false,
  } as unknown as Models;
  const limit = (megabytes: number) => ({
    bytes: megabytes * 1_000_000,
    source: "the limit",
    reservedBytes: 500_000_000,
  });
  const findingsWith = async (megabytes: number) => {
    const memory = () => describeMemory(config, models, limit(megabytes));
    const engine = async () => {
      await memory();
      return HEALTHY_CHECKS.engine();
    };
    const findings = await diagnose(config, { ...HEALTHY_CHECKS, memory, engine });
    return ["memory", "engine"].map((name) => findings.find((finding) => finding.name === name));
  };
  expect(await findingsWith(6000)).toMatchObject([
    { status: "ok", detail: expect.stringContaining("4 of 4, with 2 of 2 threads"), remedy: null },
    { status: "ok" },
  ]);
  expect(await findingsWith(1400)).toMatchObject([
    { status: "warning", detail: expect.stringContaining("1 of 4, with 1 of 2 threads") },
    { status: "ok" },
  ]);
  expect(await findingsWith(900)).toMatchObject([
    { status: "missing", detail: expect.stringContaining("needs 1148 MiB"), remedy: expect.any(String) },
    { status: "missing", detail: expect.stringContaining("memory"), remedy: "See memory." },
  ]);
});

test("the doctor says how to use more cores", async () => {
  const finding = async (env: Record<string, string>, cores: number, wanted: string | null = null) => {
    const model = async () => ({ ...(await HEALTHY_CHECKS.model()), wanted });
    return await examineProcessor(readConfig(env), { model }, cores);
  };
  expect(await finding({ SPEECH_THREADS: "4" }, 16)).toMatchObject({
    status: "ok",
    detail: expect.stringContaining("16 cores; 1 speech process with 4 threads. SPEECH_PROCESSES=4"),
  });
  expect(await finding({ SPEECH_THREADS: "4", SPEECH_PROCESSES: "4" }, 16)).toMatchObject({
    status: "ok",
    detail: "16 cores; 4 speech processes with 4 threads.",
  });
  expect(await finding({ SPEECH_THREADS: "1" }, 1)).toMatchObject({
    detail: "1 core; 1 speech process with 1 thread.",
  });
  expect(await finding({ SPEECH_THREADS: "8" }, 16)).toMatchObject({
    status: "warning",
    detail: expect.stringContaining("nothing from more than 4"),
    remedy: expect.stringMatching(/SPEECH_THREADS=4\..* SPEECH_PROCESSES to up to 4,/),
  });
  // A Whisper model uses all threads.
  expect(await finding({ SPEECH_THREADS: "8" }, 16, "whisper-small")).toMatchObject({
    status: "ok",
    detail: expect.stringContaining("SPEECH_PROCESSES=2"),
  });
});

test("the doctor does not report that files are fine while the database does not respond", async () => {
  const config = readConfig({ DATA_DIR: await temporaryFolder() });
  for (const files of [async () => null, () => Promise.reject(new Error("away"))]) {
    const findings = await diagnose(config, { ...HEALTHY_CHECKS, files });
    expect(findings.find(({ name }) => name === "files")).toMatchObject({ status: "warning" });
  }
});

test("the doctor counts the videos with missing files", async () => {
  const config = readConfig({ DATA_DIR: await temporaryFolder() });
  const detailOf = async (recording: number, transcript: number) => {
    const missing = { recording, transcript };
    const files = async () => ({ missing, examples: ["video_1"], checkedAt: null });
    const findings = await diagnose(config, { ...HEALTHY_CHECKS, files });
    return findings.find(({ name }) => name === "files")?.detail;
  };
  expect(await detailOf(1, 0)).toMatch(/^Missing: the recordings of 1 video, including video_1; /);
  expect(await detailOf(2, 1)).toMatch(
    /^Missing: the recordings of 2 videos, the transcripts of 1 video, including video_1; /,
  );
});

test("the doctor says how to create the index for the text search if the role was not allowed to", async () => {
  const config = readConfig({ DATA_DIR: await temporaryFolder() });
  const database = async () => ({ version: "PostgreSQL 17", lacksTextIndex: true });
  const findings = await diagnose(config, { ...HEALTHY_CHECKS, database });
  expect(findings.find(({ name }) => name === "database")).toMatchObject({
    status: "warning",
    detail: expect.stringContaining("PostgreSQL 17; "),
    remedy: expect.stringContaining("create extension if not exists pg_trgm; create index"),
  });
});

test("the doctor names the setting that the database or the storage rejects", async () => {
  const config = readConfig({ DATA_DIR: await temporaryFolder() });
  const refused = (cause: Error) => () => Promise.reject(new Error("It does not answer.", { cause }));
  const findings = await diagnose(config, {
    ...HEALTHY_CHECKS,
    database: refused(Object.assign(new Error("password authentication failed"), { code: "28P01" })),
    storage: refused(Object.assign(new Error("no match"), { name: "SignatureDoesNotMatch" })),
  });
  const remedyOf = (part: string) => findings.find(({ name }) => name === part)?.remedy;
  expect(remedyOf("database")).toBe("DATABASE_URL: the database rejected the user or password.");
  expect(remedyOf("storage")).toBe("S3_SECRET_ACCESS_KEY: the secret does not match S3_ACCESS_KEY_ID.");
});

test.each([
  [{ code: "42501" }, /^DATABASE_URL: the user lacks privileges/],
  [{ name: "AuthorizationHeaderMalformed" }, /^S3_REGION: /],
  [{ name: "CredentialsProviderError" }, /^S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY: /],
  [{ name: "RequestTimeTooSkewed" }, /^The clock of this machine: /],
])("%j is explained", (error, setting) => {
  expect(settingAtFault(Object.assign(new Error("refused"), error))).toMatch(setting);
});

test("the doctor reports that no worker is running, as an error if videos are waiting", async () => {
  const config = readConfig({ DATA_DIR: await temporaryFolder() });
  const findingWith = async (workers: HealthChecks["workers"]) => {
    const findings = await diagnose(config, { ...HEALTHY_CHECKS, workers });
    return findings.find(({ name }) => name === "workers");
  };
  expect(await findingWith(async () => ({ running: 2, waiting: 5 }))).toMatchObject({ status: "ok" });
  expect(await findingWith(async () => ({ running: null, waiting: 5 }))).toMatchObject({ status: "ok" });
  const remedy = expect.stringContaining("ROLE=worker");
  expect(await findingWith(async () => ({ running: 0, waiting: 0 }))).toMatchObject({
    status: "warning",
    remedy,
  });
  expect(await findingWith(async () => ({ running: 0, waiting: 5 }))).toMatchObject({
    status: "missing",
    detail: expect.stringContaining("5 videos"),
    remedy,
  });
  expect(await findingWith(() => Promise.reject(new Error("away")))).toMatchObject({ status: "warning" });
});

test("the doctor reports an error if the service refuses uploads for lack of space", () => {
  const refusal = (mebibytes: number) => {
    const { status, remedy } = examineSpace(readConfig({}), mebibytes * 1024 ** 2);
    return { status, remedy, refused: !hasSpace(mebibytes * 1024 ** 2, 0) };
  };
  const remedy = "Uploads are refused below 1 GiB. Free up space.";
  expect(refusal(1023)).toEqual({ status: "missing", remedy, refused: true });
  expect(refusal(1024)).toMatchObject({
    status: "warning",
    remedy: "Free up space, because recordings are stored there.",
    refused: false,
  });
  expect(refusal(5 * 1024)).toMatchObject({ status: "ok", refused: false });
});

test("the doctor says what needs the space if recordings are stored in a bucket", () => {
  const bucket = { S3_BUCKET: "recordings", S3_REGION: "eu-central-1" };
  const warning = (role: string) => {
    const config = readConfig({ ...bucket, ROLE: role, DATABASE_URL: "postgresql://localhost/subtext" });
    const { status, remedy } = examineSpace(config, 2 * 1024 ** 3);
    return { status, remedy };
  };
  const remedy = "Free up space, because workers download the recordings there to transcribe them.";
  expect(warning("worker")).toEqual({ status: "warning", remedy });
  expect(warning("api")).toEqual({ status: "ok", remedy: null });
});
