import { messageOf, request, UnreachableError } from "../../admin-client/request.ts";
import { readLocal, writeLocal } from "../../hooks/local-storage.ts";
import { problems } from "../../messages/en/problems.ts";
import { uploads as texts } from "../../messages/en/uploads.ts";
import { formatBytes } from "../../ui/format.ts";

const MAX_CONCURRENT = 3;
const RETRY_DELAYS_MS = [0, 1_000, 3_000, 5_000, 10_000, 20_000, 30_000];
const STORAGE_PREFIX = "subtext.upload:";
/** Response statuses if the upload was deleted or has expired, or its URL is no longer valid. */
const GONE = [403, 404, 410];

export interface UploadView {
  /** Valid only in this page; not the ID of the video. */
  id: string;
  environmentId: string;
  filename: string;
  sizeBytes: number;
  sentBytes: number;
  state: "waiting" | "uploading" | "done" | "failed";
  problem: string | null;
}

interface UploadItem {
  view: UploadView;
  file: File;
  /** Key in local storage. Identifies the file and its environment across tabs and reloads. */
  key: string;
  /** Stops sending; `terminate` also deletes the upload on the server. Null if nothing has been sent yet. */
  abort: ((terminate: boolean) => Promise<void>) | null;
  isCanceled: boolean;
}

/**
 * Uploads files from this browser. Uploads continue when the user opens another page. An interrupted upload resumes
 * when the same file is added again.
 */
export class UploadQueue {
  #items: UploadItem[] = [];
  #views: readonly UploadView[] = [];
  readonly #listeners = new Set<() => void>();
  #lastId = 0;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Returns the same array until an upload changes. */
  readonly views = (): readonly UploadView[] => this.#views;

  get isBusy(): boolean {
    return this.#items.some(({ view }) => view.state === "waiting" || view.state === "uploading");
  }

  add(environmentId: string, files: Iterable<File>): void {
    for (const file of files) {
      const key = keyOf(environmentId, file);
      const existing = this.#items.find((item) => item.key === key && item.view.state !== "done");
      if (existing) {
        this.retry(existing.view.id);
        continue;
      }
      this.#lastId += 1;
      const view: UploadView = {
        id: `upload ${this.#lastId}`,
        environmentId,
        filename: file.name,
        sizeBytes: file.size,
        sentBytes: 0,
        state: "waiting",
        problem: null,
      };
      this.#items.push({ view, file, key, abort: null, isCanceled: false });
    }
    this.#startNext();
  }

  retry(id: string): void {
    const item = this.#find(id);
    if (item?.view.state !== "failed") return;
    this.#update(item, { state: "waiting", problem: null });
    this.#startNext();
  }

  /** Also deletes what the server has received from this page. */
  async cancel(id: string): Promise<void> {
    const item = this.#find(id);
    if (!item) return;
    item.isCanceled = true;
    this.#items = this.#items.filter((other) => other !== item);
    this.#notify();
    const { state } = item.view;
    if (state === "done") return;
    const discard = async () => {
      writeLocal(item.key, null);
      await item.abort?.(true);
    };
    if (state === "uploading") await discard();
    // While the file waits here, or after it failed here, another tab may be sending it.
    else if (item.abort) await withLock(item.key, async (isHeld) => isHeld && (await discard()));
    this.#startNext();
  }

  /** Stops all uploads. The server keeps what it has received, so that the uploads can resume. */
  async stop(): Promise<void> {
    const stopped = this.#items;
    this.#items = [];
    this.#notify();
    await Promise.all(stopped.map(({ abort }) => abort?.(false)));
  }

  clearDone(): void {
    this.#items = this.#items.filter(({ view }) => view.state !== "done");
    this.#notify();
  }

  #find(id: string): UploadItem | undefined {
    return this.#items.find(({ view }) => view.id === id);
  }

  #startNext(): void {
    let freeSlots = MAX_CONCURRENT - this.#items.filter(({ view }) => view.state === "uploading").length;
    for (const item of this.#items) {
      if (freeSlots <= 0) break;
      if (item.view.state !== "waiting") continue;
      freeSlots -= 1;
      this.#update(item, { state: "uploading" });
      this.#sendExclusively(item)
        .then(
          () => this.#update(item, { state: "done", sentBytes: item.view.sizeBytes }),
          (error) => this.#update(item, { state: "failed", problem: uploadProblem(error) }),
        )
        .finally(() => this.#startNext());
    }
    this.#notify();
  }

  /** Holds a lock, so that two tabs do not send the same file. */
  async #sendExclusively(item: UploadItem): Promise<void> {
    await withLock(item.key, async (isHeld) => {
      if (!isHeld) throw new Error(texts.otherTab);
      await this.#send(item);
    });
  }

  async #send(item: UploadItem): Promise<void> {
    // The server accepts empty files, but none is a recording.
    if (item.file.size === 0) throw new Error(texts.emptyFile);
    const storedUrl = readLocal(item.key);
    if (storedUrl !== null) {
      try {
        return await this.#sendTo(storedUrl, item);
      } catch (error) {
        if (!GONE.includes(statusOf(error) ?? 0)) throw error;
        writeLocal(item.key, null);
      }
    }
    const { environmentId, filename, sizeBytes } = item.view;
    const { upload } = await request("POST /environments/:environment/videos", {
      params: { environment: environmentId },
      body: { filename, sizeBytes },
    });
    // Use the page's own origin, because it may differ from PUBLIC_URL and requests to other origins are blocked.
    const { pathname, search } = new URL(upload.url);
    writeLocal(item.key, pathname + search);
    await this.#sendTo(pathname + search, item);
  }

  async #sendTo(uploadUrl: string, item: UploadItem): Promise<void> {
    const { Upload } = await import("tus-js-client");
    if (!this.#items.includes(item)) {
      // Canceled or stopped before the server had created the upload.
      if (!item.isCanceled) return;
      await Upload.terminate(new URL(uploadUrl, location.origin).href);
      writeLocal(item.key, null);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const upload = new Upload(item.file, {
        uploadUrl: new URL(uploadUrl, location.origin).href,
        retryDelays: RETRY_DELAYS_MS,
        storeFingerprintForResuming: false,
        onProgress: (sentBytes) => this.#update(item, { sentBytes }),
        onSuccess: () => {
          writeLocal(item.key, null);
          resolve();
        },
        onError: reject,
      });
      item.abort = async (terminate) => {
        // Resolve before the deletion completes, so that the same file can be added again immediately.
        resolve();
        await upload.abort(terminate).catch(() => {});
      };
      upload.start();
    });
  }

  #update(item: UploadItem, change: Partial<UploadView>): void {
    item.view = { ...item.view, ...change };
    this.#notify();
  }

  #notify(): void {
    this.#views = this.#items.map(({ view }) => view);
    for (const listener of this.#listeners) listener();
  }
}

/** Calls `action` while this page holds the lock, or at once if another tab does. */
async function withLock(key: string, action: (isHeld: boolean) => Promise<unknown>): Promise<void> {
  // Browsers offer locks only to pages loaded over HTTPS or from localhost.
  if (!navigator.locks) await action(true);
  else await navigator.locks.request(key, { ifAvailable: true }, async (lock) => await action(lock !== null));
}

function keyOf(environmentId: string, { name, size, lastModified }: File): string {
  return STORAGE_PREFIX + JSON.stringify([environmentId, name, size, lastModified]);
}

/** Part of tus-js-client's errors. */
interface FailedRequest {
  originalRequest?: object | null;
  originalResponse?: { getStatus(): number; getBody(): string } | null;
}

/** Returns null if no response arrived or the error did not come from tus-js-client. */
function statusOf(error: unknown): number | null {
  return (error as FailedRequest).originalResponse?.getStatus() ?? null;
}

/** Formats byte counts in the error message, e.g. as `4 MB`. */
function uploadProblem(error: unknown): string {
  return errorMessage(error).replace(/\b(\d{4,}) bytes\b/g, (_, count) => formatBytes(Number(count)));
}

function errorMessage(error: unknown): string {
  const { originalRequest, originalResponse } = error as FailedRequest;
  if (!originalRequest) return messageOf(error);
  if (!originalResponse) return new UnreachableError(error).message;
  try {
    const { code = "", detail } = JSON.parse(originalResponse.getBody()) as Partial<Record<string, string>>;
    return problems[code] ?? detail ?? texts.rejected(originalResponse.getStatus());
  } catch {
    return texts.rejected(originalResponse.getStatus());
  }
}
