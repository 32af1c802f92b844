import { createHash } from "node:crypto";
import { cp, mkdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hashOfEntityTag } from "../../src/models/content-hash.ts";
import { type DownloadProgress, ProgressMeter } from "../../src/models/download-progress.ts";
import type { ModelHub, ServedFile } from "../support/model-hub.ts";
import {
  emptyStore,
  expectError,
  expectInstalled,
  FAST_RETRIES,
  FILES,
  filesOf,
  MIB,
  MODEL,
  pull,
  pullInPart,
  REPOSITORY,
  startHub,
  TOTAL,
  temporaryFolder,
} from "../support/model-pulls.ts";

describe("a download", () => {
  test("downloads every file of one commit, checked, and writes down where from", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    const seen: DownloadProgress[] = [];
    const { model, wasInstalled } = await pull(store, hub, { onProgress: (progress) => seen.push(progress) });
    await expectInstalled(store);
    expect(wasInstalled).toBe(false);
    expect(model).toMatchObject({ state: "installed", bytes: TOTAL, totalBytes: TOTAL, damage: [] });
    const manifest = JSON.parse(await readFile(join(model.folder, "model.json"), "utf8"));
    expect(manifest).toEqual({
      name: MODEL.name,
      licence: "MIT",
      source: { hub: hub.url, repository: REPOSITORY, revision: "main", commit: hub.commit },
      files: [
        {
          path: "config.json",
          bytes: 15,
          hash: expect.objectContaining({ algorithm: "git-blob-sha1" }),
          stated: true,
        },
        expect.objectContaining({ path: "onnx/encoder.onnx", bytes: 2 * MIB, stated: true }),
        {
          path: "onnx/decoder.onnx",
          bytes: 3 * MIB + 17,
          hash: {
            algorithm: "sha256",
            hex: createHash("sha256")
              .update(FILES["onnx/decoder.onnx"]?.content ?? "")
              .digest("hex"),
          },
          stated: true,
        },
      ],
      installedAt: "2026-01-02T03:04:05.000Z",
    });
    expect(seen.at(-1)).toMatchObject({ receivedBytes: TOTAL, totalBytes: TOTAL, elsewhere: false });
    const received = seen.map(({ receivedBytes }) => receivedBytes);
    expect(received).toEqual(received.toSorted((a, b) => a - b));
    expect(hub.gets("encoder.onnx").map(({ path }) => path)).toEqual([
      `/${REPOSITORY}/resolve/${hub.commit}/onnx/encoder.onnx`,
    ]);
  });

  test("of what is installed already asks the hub nothing", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    await pull(store, hub);
    const requests = hub.requests.length;
    expect((await pull(store, hub)).wasInstalled).toBe(true);
    expect(hub.requests.length).toBe(requests);
  });

  test("continues from if it was let go", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { pieceDelayMs: 2 };
    await pullInPart(store, hub, 3 * MIB);
    expect(await store.list()).toMatchObject([{ state: "partial", totalBytes: TOTAL, manifest: null }]);
    await expectError(store.find(MODEL.name), "model_not_found", /whisper-made is not installed in/);

    hub.faults = {};
    hub.bytesServed = 0;
    await pull(store, hub);
    await expectInstalled(store);
    expect(hub.bytesServed).toBeLessThan(TOTAL - 2.9 * MIB);
  });

  test("continues where connections break again and again", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { cutAfterBytes: 1.2 * MIB };
    await pull(store, hub, { retryPolicy: { ...FAST_RETRIES, maxAttempts: 2 } });
    await expectInstalled(store);
    expect(hub.gets("decoder.onnx").map(({ headers }) => headers.range)).toEqual([
      undefined,
      expect.stringMatching(/^bytes=\d+-$/),
      expect.stringMatching(/^bytes=\d+-$/),
    ]);
  });

  test("begins a file again if the server knows no ranges", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { pieceDelayMs: 2 };
    await pullInPart(store, hub, 3 * MIB);
    hub.faults = { withoutRanges: true };
    await pull(store, hub);
    await expectInstalled(store);
  });

  test("waits out a server that is busy or fails for a while", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { statuses: [503, 429] };
    await pull(store, hub);
    await expectInstalled(store);
  });

  test.each([
    ["fails for long", { statuses: [500, 502, 503, 504] }, /503/],
    ["never answers", { silent: true }, /did not respond/],
    ["falls silent in the middle", { stallAfterBytes: 65_536 }, /sent no data/],
    ["breaks off at once, every time", { cutAfterBytes: 1000 }, /config|encoder/],
  ])("is given up where the server %s, and keeps what has arrived", async (_fault, faults, message) => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = faults;
    await expectError(pull(store, hub), "model_download_failed", message);
    hub.faults = {};
    await pull(store, hub);
    await expectInstalled(store);
  });

  test("says that nothing is used there", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    await hub.stop();
    await expectError(pull(store, hub), "model_download_failed", /ECONNREFUSED/);
  });

  test("is asked for once if the hub refuses or has no such file", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { token: "secret" };
    await expectError(pull(store, hub), "model_download_failed", /401.*MODEL_HUB_TOKEN/);
    expect(hub.requests).toHaveLength(1);

    const lacking = await startHub({ "config.json": FILES["config.json"] as ServedFile });
    await expectError(pull(store, lacking), "model_download_failed", /no onnx\/encoder\.onnx/);
  });

  test("shows its token to the hub alone, not to if that redirects", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { token: "secret" };
    await pull(store, hub, { hub: { url: hub.url, token: "secret" } });
    await expectInstalled(store);
    const network = hub.requests.filter(({ server }) => server === "cdn");
    expect(network.length).toBeGreaterThan(0);
    expect(network.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
  });

  test("whose content is not what the hub says is removed and reported", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { wrongHashes: true };
    await expectError(pull(store, hub), "model_corrupt", /config\.json does not match the hash of/);
    await expect(stat(join(store.folder, "whisper-made.partial/config.json"))).rejects.toThrow("ENOENT");
    await expectError(store.find(MODEL.name), "model_not_found", /not installed/);
  });

  test("repairs a part that has gone bad on the disk by bringing that file again", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { pieceDelayMs: 2 };
    await pullInPart(store, hub, MIB);
    hub.faults = {};
    const part = join(store.folder, "whisper-made.partial/onnx/encoder.onnx");
    const { size } = await stat(part);
    await writeFile(part, Buffer.alloc(size));
    await expectError(pull(store, hub), "model_corrupt", /encoder\.onnx/);
    await pull(store, hub);
    await expectInstalled(store);
  });

  test("stays with the commit it began with while the hub moves on", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { pieceDelayMs: 2 };
    await pullInPart(store, hub, 3 * MIB);
    hub.faults = {};
    hub.push(REPOSITORY, filesOf("2"));
    await pull(store, hub);
    await expectInstalled(store, FILES);
  });

  test("takes all files of the commit of the first, though the hub moves on while it describes them", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.onRequest = ({ path }) => {
      if (path.endsWith("encoder.onnx")) hub.push(REPOSITORY, filesOf("2"));
    };
    await pull(store, hub);
    await expectInstalled(store, FILES);
  });

  test.each([
    ["has forgotten the old commit", (hub: ModelHub) => hub.forgetHistory()],
    [
      "gives the newest, whatever is asked for",
      (hub: ModelHub) => Object.assign(hub.faults, { ignoresRevisions: true }),
    ],
  ])("starts over if the hub %s", async (_case, change) => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { pieceDelayMs: 2 };
    await pullInPart(store, hub, 3 * MIB);
    hub.faults = {};
    hub.push(REPOSITORY, filesOf("2"));
    change(hub);
    await pull(store, hub);
    await expectInstalled(store, filesOf("2"));
  });

  test("works with a plain file server, and records that its hashes were not stated", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { plain: true };
    const { model } = await pull(store, hub);
    await expectInstalled(store);
    expect(model.manifest?.source.commit).toBeNull();
    expect(model.manifest?.files.map(({ stated, hash }) => [stated, hash.algorithm])).toEqual([
      [false, "sha256"],
      [false, "sha256"],
      [false, "sha256"],
    ]);
  });

  test("joins no parts of different versions if there are no hashes to report", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { plain: true, pieceDelayMs: 2 };
    await pullInPart(store, hub, 3 * MIB);
    hub.faults = { plain: true };
    hub.push(REPOSITORY, filesOf("2"));
    const { model } = await pull(store, hub);
    const decoder = await readFile(join(model.folder, "onnx/decoder.onnx"));
    expect(decoder.equals(filesOf("2")["onnx/decoder.onnx"]?.content ?? Buffer.alloc(0))).toBe(true);
  });

  test("takes the hash of a small file also from if the hub redirects within itself", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { ownRedirects: true, token: "secret" };
    const { model } = await pull(store, hub, { hub: { url: hub.url, token: "secret" } });
    await expectInstalled(store);
    expect(model.manifest?.files.map(({ stated }) => stated)).toEqual([true, true, true]);
  });

  test("works if the hub gives no lengths", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { withoutLengths: true };
    const totals = new Set<number | null>();
    await pull(store, hub, { onProgress: ({ totalBytes }) => totals.add(totalBytes) });
    await expectInstalled(store);
    expect(totals.has(null)).toBe(true);
  });

  test("follows no link in place of its file", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { pieceDelayMs: 2 };
    await pullInPart(store, hub, MIB);
    hub.faults = {};
    const [partial, elsewhere] = [join(store.folder, "whisper-made.partial"), await temporaryFolder()];
    await cp(partial, elsewhere, { recursive: true });
    await rm(partial, { recursive: true });
    await symlink(elsewhere, partial);
    const { size } = await stat(join(elsewhere, "onnx/encoder.onnx"));
    await pull(store, hub);
    await expectInstalled(store);
    expect((await stat(join(elsewhere, "onnx/encoder.onnx"))).size).toBe(size);
  });

  test("writes through no link in place of a file", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    hub.faults = { pieceDelayMs: 2 };
    await pullInPart(store, hub, MIB);
    hub.faults = {};
    const victim = join(await temporaryFolder(), "victim");
    await writeFile(victim, "unchanged");
    await symlink(victim, join(store.folder, "whisper-made.partial/onnx/decoder.onnx"));
    await expectError(pull(store, hub), "model_store_failed", /it is a symbolic link/);
    expect(await readFile(victim, "utf8")).toBe("unchanged");
  });

  test("replaces an installed model that is damaged", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    const { model } = await pull(store, hub);
    await truncate(join(model.folder, "onnx/encoder.onnx"), 1000);
    expect((await pull(store, hub)).wasInstalled).toBe(false);
    await expectInstalled(store);
  });

  test("ignores what it cannot read of an earlier one", async () => {
    const [hub, store] = [await startHub(), await emptyStore()];
    const partial = join(store.folder, "whisper-made.partial");
    for (const left of ["", "{", '{"source": null, "files": []}', '{"files": [{"path": "../../x"}]}']) {
      await mkdir(partial, { recursive: true });
      await writeFile(join(partial, "download.json"), left);
      await pull(store, hub);
      await expectInstalled(store);
      await store.remove(MODEL.name);
    }
  });
});

describe("an entity tag", () => {
  const sha256 = "a".repeat(64);
  const sha1 = "b".repeat(40);
  test.each([
    [`"${sha256}"`, { algorithm: "sha256", hex: sha256 }],
    [`W/"${sha1.toUpperCase()}"`, { algorithm: "git-blob-sha1", hex: sha1 }],
    [`"sha256:${sha256}"`, { algorithm: "sha256", hex: sha256 }],
    ['"5f3a-62b1"', null],
    [`"${"c".repeat(32)}"`, null],
    [`"${sha256}-2"`, null],
    [null, null],
  ])("%s states %o", (tag, hash) => {
    expect(hashOfEntityTag(tag)).toEqual(hash);
  });
});

test("the rate of a download is that of the last seconds, and reports what remains", () => {
  let now = 0;
  const meter = new ProgressMeter(() => now);
  const at = (ms: number, bytes: number) => {
    now = ms;
    return meter.progress(bytes, 10_000, false);
  };
  expect(at(0, 5_000)).toMatchObject({ bytesPerSecond: null, remainingSeconds: null });
  expect(at(1_000, 6_000)).toMatchObject({ bytesPerSecond: 1000, remainingSeconds: 4 });
  // What came before the window counts no more: a line that has become slow is slow.
  expect(at(20_000, 6_100)).toMatchObject({ bytesPerSecond: null });
  expect(at(21_000, 6_200)).toMatchObject({ bytesPerSecond: 100, remainingSeconds: 38 });
  // A file that was started over.
  expect(at(22_000, 5_000)).toMatchObject({ bytesPerSecond: null, remainingSeconds: null });
  // One report per chunk, of which not all are kept.
  for (let ms = 1; ms < 600; ms++) at(22_000 + ms, 5_000 + ms);
  expect(at(22_600, 5_600)).toMatchObject({ bytesPerSecond: 1000, remainingSeconds: 4.4 });
});
