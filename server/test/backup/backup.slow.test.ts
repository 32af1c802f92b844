import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import type { BackupView } from "../../src/backup/backups.ts";
import { makeBackup } from "../../src/backup/make-backup.ts";
import { restoreBackup } from "../../src/backup/restore.ts";
import { checkAllFiles } from "../../src/cleanup/sweep-missing-files.ts";
import { newId } from "../../src/lib/ids.ts";
import { fileKey, filePrefix } from "../../src/storage/transcript-files.ts";
import { insertVideo } from "../../src/videos/queries.ts";
import { codeOf, cookieOf, send, sendAsCommandLine, setUp, signIn } from "../admin/operator-requests.ts";
import { seedTranscript } from "../support/seed-transcript.ts";
import {
  createTenant,
  shareService,
  startService,
  type TestService,
  temporaryFolder,
  until,
  upload,
} from "../support/service.ts";
import { readRecording, writeRecording } from "../support/stored-recording.ts";

/** Only the embedded database with the disk has backups with files. */
const isElsewhere = Boolean(process.env.TEST_DATABASE_URL || process.env.TEST_S3);
/** Another file system than the tests' data folders, if there is one: hard links to it fail. */
const OTHER_DISK = "/dev/shm";

async function backUp(service: TestService, folder: string): Promise<BackupView> {
  const started = await sendAsCommandLine(service, "/backup", { method: "POST", body: { folder } });
  expect(started.statusCode).toBe(202);
  return await until(async () => {
    const { backup } = (await sendAsCommandLine(service, "/backup")).json<{ backup: BackupView }>();
    return backup.state !== "running" && backup;
  });
}

async function runCommand(args: string[], env: Record<string, string>) {
  const child = startCommand(args, env);
  const [code, out, err] = await Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);
  return { code: code[0], out, err };
}

function startCommand(args: string[], env: Record<string, string>) {
  const bin = join(import.meta.dirname, "../../bin/subtext.js");
  return spawn(process.execPath, [bin, ...args], {
    env: { ...process.env, MODEL_DOWNLOAD: "off", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** A folder for the backups of one test. */
async function targets(parent = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, "subtext-backup-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test.runIf(process.env.TEST_DATABASE_URL)(
  "PostgreSQL is backed up with its own tools, and the error says so (skipped without TEST_DATABASE_URL)",
  async () => {
    const service = await startService({ start: false });
    const { state, error } = await backUp(service, join(await targets(), "backup"));
    expect([state, error?.code]).toEqual(["failed", "backup_not_possible"]);
  },
);

test.skipIf(isElsewhere).for([
  ["the same disk", tmpdir()],
  ["another disk", OTHER_DISK],
] as const)(
  "a backup under live uploads and deletions to %s is restored with every transcript and recording equal (skipped with TEST_DATABASE_URL or TEST_S3)",
  { timeout: 120_000 },
  async ([, parent], { skip }) => {
    skip(!existsSync(parent), `${parent} does not exist`);
    const service = await startService({ start: false });
    const tenant = await createTenant(service, { aiTranscription: false });
    const { environmentId } = tenant;
    const contents = new Map<string, string>();
    const deleted: string[] = [];
    let live = true;
    let count = 0;
    const seed = async () => {
      count += 1;
      const words = `words of ${count}`;
      const { videoId } = await seedTranscript(service.service, {
        environmentId,
        language: "en",
        text: words,
        async store(made) {
          for (const format of ["vtt", "txt"] as const)
            await service.service.parts.transcripts.put(
              fileKey(filePrefix(made.transcriptionId, 1), format),
              Buffer.from(`${format} ${words}`),
            );
          await writeRecording(service.service, made.videoId, `recording ${words}`);
          contents.set(made.transcriptionId, words);
        },
      });
      return videoId;
    };
    for (let made = 0; made < 12; made += 1) await seed();
    const traffic = (async () => {
      while (live) {
        await upload(service, tenant, Buffer.from(`upload ${count}`));
        const videoId = await seed();
        if (count % 3 !== 0) continue;
        deleted.push(videoId);
        await sendAsCommandLine(service, `/environments/${environmentId}/videos/${videoId}`, {
          method: "DELETE",
        });
      }
    })();
    const target = join(await targets(parent), "backup");
    const before = count;
    const made = await backUp(service, target);
    live = false;
    await traffic;
    expect(made).toMatchObject({ state: "done", manifest: { missingCount: 0, files: "here" } });
    expect(count).toBeGreaterThan(before);
    expect(await readdir(service.dataFolder)).not.toContain("backup.unfinished");
    execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: target });
    await service.service.stop();

    const dataFolder = await temporaryFolder();
    await restoreBackup(target, dataFolder, () => {});
    const again = await startService({ dataFolder, start: false });
    const { database, queue, transcripts, recordings, clock, log } = again.service.parts;
    const db = database.kysely;
    const rows = await db
      .selectFrom("video")
      .leftJoin("transcription", "transcription.video_id", "video.id")
      .select(["video.id", "video.uploaded_at", "transcription.id as transcription", "file_prefix"])
      .execute();
    expect(rows.filter((row) => row.transcription).length).toBeGreaterThanOrEqual(12);
    for (const { id, uploaded_at, transcription, file_prefix } of rows) {
      if (uploaded_at === null) continue;
      const recording = (await readRecording(again.service, id))?.toString();
      if (!transcription || !file_prefix) expect(recording).toMatch(/^upload \d+$/);
      else {
        const words = contents.get(transcription);
        expect(recording).toBe(`recording ${words}`);
        expect(await text(await transcripts.read(fileKey(file_prefix, "vtt")))).toBe(`vtt ${words}`);
        const json = JSON.parse(await text(await transcripts.read(fileKey(file_prefix, "json"))));
        expect(json.map(({ word }: { word: string }) => word).join(" ")).toBe(words);
      }
    }
    await checkAllFiles({ db, queue, transcripts, recordings, clock, log }, new AbortController().signal);
    expect(await db.selectFrom("missing_file").selectAll().execute()).toEqual([]);
  },
);

test.skipIf(isElsewhere)(
  "a backup that is killed half way leaves nothing that looks complete (skipped with TEST_DATABASE_URL or TEST_S3)",
  async () => {
    const service = await startService({ start: false });
    const { environmentId } = await createTenant(service);
    const { videoId } = await seedTranscript(service.service, { environmentId, language: "en", text: "one" });
    await writeRecording(service.service, videoId, "");
    await truncate(join(service.dataFolder, "uploads", videoId), 8 * 1024 ** 3);
    await service.service.stop();
    const target = join(await targets(), "backup");
    const command = startCommand(["backup", target], { DATA_DIR: service.dataFolder });
    await until(async () => existsSync(join(`${target}.unfinished`, "SHA256SUMS")));
    command.kill("SIGKILL");
    await once(command, "exit");
    expect(existsSync(target)).toBe(false);
    await expect(restoreBackup(`${target}.unfinished`, await temporaryFolder(), () => {})).rejects.toThrow(
      "is not a backup",
    );

    await truncate(join(service.dataFolder, "uploads", videoId), 1000);
    const again = await runCommand(["backup", target], { DATA_DIR: service.dataFolder });
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("all were read back and verified") });
    expect(existsSync(`${target}.unfinished`)).toBe(false);
    const dataFolder = await temporaryFolder();
    const restored = await runCommand(["restore", target], { DATA_DIR: dataFolder });
    expect(restored).toMatchObject({ code: 0 });
    expect((await stat(join(dataFolder, "uploads", videoId))).size).toBe(1000);
    const refused = await runCommand(["restore", target], { DATA_DIR: dataFolder });
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("is not empty") });
  },
  120_000,
);

test.skipIf(isElsewhere)(
  "a full disk is a clear error that leaves nothing behind (skipped with TEST_DATABASE_URL or TEST_S3)",
  async ({ skip }) => {
    const small = await targets();
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", small], { stdio: "ignore" });
    } catch {
      skip("a small file system cannot be mounted here");
    }
    onTestFinished(() => void execFileSync("umount", [small]));
    const service = await startService({ start: false });
    const { state, error } = await backUp(service, join(small, "backup"));
    expect([state, error?.code]).toEqual(["failed", "storage_full"]);
    expect(error?.message).toContain("no space left");
    expect(await readdir(small)).toEqual([]);
    expect(await readdir(service.dataFolder)).not.toContain("backup.unfinished");
    expect((await createTenant(service)).key).toBeTruthy();
  },
);

const shared = shareService({ start: false });

test.skipIf(isElsewhere)(
  "a restore refuses a backup that is damaged or newer, and a folder that is not empty (skipped with TEST_DATABASE_URL or TEST_S3)",
  async () => {
    const target = join(await targets(), "backup");
    expect(await backUp(shared, target)).toMatchObject({ state: "done" });
    const manifestPath = join(target, "backup.json");
    const manifest = await readFile(manifestPath, "utf8");
    const { mode } = await stat(target);
    expect(mode & 0o077).toBe(0);

    const used = await temporaryFolder();
    await writeFile(join(used, "holiday.mp4"), "x");
    await expect(restoreBackup(target, used, () => {})).rejects.toThrow("it contains holiday.mp4");

    const newer = JSON.parse(manifest);
    newer.migrations.push("9999_later");
    await writeFile(manifestPath, JSON.stringify(newer));
    const folder = await temporaryFolder();
    await mkdir(join(folder, "lost+found"));
    await expect(restoreBackup(target, folder, () => {})).rejects.toThrow("created by a newer version");
    await writeFile(manifestPath, JSON.stringify({ ...newer, migrations: ["0001_first", "0002_operators"] }));
    await expect(restoreBackup(target, folder, () => {})).rejects.toThrow("0023_file_formats once");
    await writeFile(manifestPath, manifest);

    const control = join(target, "data", "database", "global", "pg_control");
    const right = await readFile(control);
    const wrong = Buffer.from(right);
    wrong[100]! ^= 1;
    await writeFile(control, wrong);
    await expect(restoreBackup(target, folder, () => {})).rejects.toThrow("is damaged");
    await writeFile(control, right);
    await expect(startService({ dataFolder: folder, start: false })).rejects.toMatchObject({
      code: "data_folder_mismatch",
      message: expect.stringContaining("was interrupted"),
    });
    // Unfinished work starts over.
    await restoreBackup(target, folder, () => {});
    expect(await readdir(folder)).toEqual(expect.arrayContaining(["database", "installation"]));
    expect(await readdir(folder)).not.toContain("restore.unfinished");
  },
);

test.skipIf(isElsewhere)(
  "only the command line creates backups, in new folders outside the data folder (skipped with TEST_DATABASE_URL or TEST_S3)",
  async () => {
    const folder = await targets();
    await writeFile(join(folder, "something"), "x");
    const refusal = async (where: string) => (await backUp(shared, where)).error?.code;
    expect(await refusal(folder)).toBe("backup_target_refused");
    await symlink(shared.dataFolder, join(folder, "link"));
    for (const inside of [
      join(shared.dataFolder, "..backup"),
      join(folder, "link", "backup"),
      join(folder, "link"),
    ]) {
      expect(await refusal(inside)).toBe("backup_target_refused");
    }
    expect(await refusal(join(folder, "no", "such"))).toBe("backup_target_refused");
    const cookie = cookieOf(await signIn(shared, await setUp(shared)));
    const asOwner = await send(shared, "/backup", {
      method: "POST",
      body: { folder: join(folder, "backup") },
      headers: { cookie, origin: shared.url },
    });
    expect(codeOf(asOwner)).toEqual([403, "command_line_required"]);
    await mkdir(join(folder, "empty"));
    expect(await backUp(shared, join(folder, "empty"))).toMatchObject({ state: "done" });
  },
);

test.skipIf(isElsewhere)(
  "files that are written or deleted after the files were collected match the database (skipped with TEST_DATABASE_URL or TEST_S3)",
  async () => {
    const { database, clock, log, transcripts, config } = shared.service.parts;
    const { environmentId } = await createTenant(shared);
    const seed = () =>
      seedTranscript(shared.service, {
        environmentId,
        language: "en",
        text: "late",
        store: ({ videoId }) => writeRecording(shared.service, videoId, "late"),
      });
    const [early, gone, lost] = [await seed(), await seed(), await seed()];
    for (const path of [`uploads/${lost.videoId}`, `files/${filePrefix(lost.transcriptionId, 1)}`])
      await rm(join(config.dataFolder, path), { recursive: true });
    let late = early;
    const real = database.snapshot;
    const snapshot: typeof real = async (to, options) => {
      late = await seed();
      await sendAsCommandLine(shared, `/environments/${environmentId}/videos/${gone.videoId}`, {
        method: "DELETE",
      });
      await real?.(to, options);
    };
    const target = join(await targets(), "backup");
    const deps = { database: { ...database, snapshot }, dataFolder: config.dataFolder, hasBucket: false };
    const manifest = await makeBackup({ ...deps, clock, log, version: "test" }, target, {
      onProgress: () => {},
      signal: new AbortController().signal,
    });
    // Counts the video once, although it lacks its recording and its transcript.
    expect(manifest.missingCount).toBe(1);
    const uploads = await readdir(join(target, "data", "uploads"));
    expect(uploads).toEqual(expect.arrayContaining([early.videoId, late.videoId]));
    const key = fileKey(filePrefix(late.transcriptionId, 1), "json");
    expect(await readFile(join(target, "data", "files", key), "utf8")).toBe(
      await text(await transcripts.read(key)),
    );
  },
);

test.skipIf(isElsewhere)(
  "an unfinished upload is copied after the database snapshot, as far as it has come (skipped with TEST_DATABASE_URL or TEST_S3)",
  async () => {
    const { database, clock, log, config } = shared.service.parts;
    const { environmentId } = await createTenant(shared);
    const id = newId("video");
    await insertVideo(database.kysely, {
      id,
      environmentId,
      metadata: {},
      sizeBytes: 100,
      now: clock.now(),
    });
    const growing = join(config.dataFolder, "uploads", id);
    await writeFile(growing, "begun");
    const target = join(await targets(), "backup");
    const copy = join("data", "uploads", id);
    let isCopiedMeanwhile = true;
    const real = database.snapshot!;
    const snapshot: typeof real = (to, options) =>
      real(to, {
        ...options,
        async onSnapshot(query) {
          await options.onSnapshot(query);
          isCopiedMeanwhile = existsSync(join(`${target}.unfinished`, copy));
          await appendFile(growing, " and continued");
        },
      });
    const deps = { database: { ...database, snapshot }, dataFolder: config.dataFolder, hasBucket: false };
    await makeBackup({ ...deps, clock, log, version: "test" }, target, {
      onProgress: () => {},
      signal: new AbortController().signal,
    });
    expect(isCopiedMeanwhile).toBe(false);
    await appendFile(growing, " after the backup");
    expect(await readFile(join(target, copy), "utf8")).toBe("begun and continued");
  },
);
