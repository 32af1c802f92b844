import { beforeEach, expect, test, vi } from "vitest";
import { UploadQueue } from "../src/features/uploads/upload-queue.ts";

declare global {
  /** Tests are compiled without the browser's types. */
  var location: { origin: string };
}

const stored = new Map<string, string>();
/** The response to an upload's requests; null if they stay without one. */
let response: { status: number; body: string } | null = null;
const terminated: string[] = [];
vi.stubGlobal("location", { origin: "https://subtext.test" });
vi.mock("../src/hooks/local-storage.ts", () => ({
  readLocal: (key: string) => stored.get(key) ?? null,
  writeLocal(key: string, value: string | null) {
    if (value === null) stored.delete(key);
    else stored.set(key, value);
  },
}));
vi.mock("../src/admin-client/request.ts", async (original) => ({
  ...(await original<object>()),
  request: async () => ({ upload: { url: "https://subtext.test/uploads/new" } }),
}));
vi.mock("tus-js-client", () => ({
  Upload: class {
    readonly #onError: (error: object) => void;

    constructor(_file: File, { onError }: { onError(error: object): void }) {
      this.#onError = onError;
    }

    static async terminate(url: string) {
      terminated.push(url);
    }

    start() {
      if (!response) return;
      const { status, body } = response;
      this.#onError({
        originalRequest: {},
        originalResponse: { getStatus: () => status, getBody: () => body },
      });
    }

    async abort() {}
  },
}));

const file = new File(["recording"], "a.mp4", { lastModified: 0 });

beforeEach(() => {
  stored.clear();
  terminated.length = 0;
  response = null;
});

function addTo(uploads: UploadQueue): string {
  uploads.add("env_1", [file]);
  return uploads.views()[0]!.id;
}

test("an upload that a proxy rejects with its own JSON fails with the status", async () => {
  response = { status: 413, body: '{"error":"too large"}' };
  const uploads = new UploadQueue();
  addTo(uploads);
  await vi.waitFor(() =>
    expect(uploads.views()).toMatchObject([
      { state: "failed", problem: "The upload was rejected (HTTP 413)." },
    ]),
  );
});

test("dismissing a file that another tab uploads does not prevent that tab from resuming", async () => {
  const otherTab = new UploadQueue();
  addTo(otherTab);
  await vi.waitFor(() => expect(stored.size).toBe(1));
  const uploads = new UploadQueue();
  const id = addTo(uploads);
  await vi.waitFor(() => expect(uploads.views()).toMatchObject([{ state: "failed" }]));
  await uploads.cancel(id);
  expect(stored.size).toBe(1);
  await otherTab.stop();
});

test("dismissing a failed upload that another tab continues does not delete it", async () => {
  response = { status: 400, body: "" };
  const uploads = new UploadQueue();
  const id = addTo(uploads);
  await vi.waitFor(() => expect(uploads.views()).toMatchObject([{ state: "failed" }]));
  response = null;
  const otherTab = new UploadQueue();
  addTo(otherTab);
  await vi.waitFor(async () => expect((await navigator.locks.query()).held).toHaveLength(1));
  await uploads.cancel(id);
  expect(stored.size).toBe(1);
  await otherTab.stop();
});

test("an upload that is stopped before it continues is not deleted, and a canceled one is", async () => {
  const stopped = new UploadQueue();
  addTo(stopped);
  const [key] = await vi.waitFor(() => {
    expect(stored.size).toBe(1);
    return [...stored.keys()];
  });
  await stopped.stop();
  await vi.waitFor(async () => expect((await navigator.locks.query()).held).toEqual([]));

  stored.set(key!, "/uploads/received");
  const uploads = new UploadQueue();
  addTo(uploads);
  await uploads.stop();
  await vi.waitFor(async () => expect((await navigator.locks.query()).held).toEqual([]));
  expect(terminated).toEqual([]);
  expect(stored.get(key!)).toBe("/uploads/received");

  await uploads.cancel(addTo(uploads));
  await vi.waitFor(() => expect(terminated).toEqual(["https://subtext.test/uploads/received"]));
});
