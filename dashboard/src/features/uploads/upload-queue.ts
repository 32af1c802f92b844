import { messageOf, request, UnreachableError } from "../../admin-client/request.ts";
import { bytes } from "../../ui/format.ts";

const AT_ONCE = 3;
const RETRY_AFTER_MS = [0, 1_000, 3_000, 5_000, 10_000, 20_000, 30_000];
const MEMORY_PREFIX = "subtext.upload:";
/** An upload URL with such a response can never accept the file: it is deleted, expired, or no longer valid. */
const GONE = [403, 404, 410];

export interface UploadView {
  /** Of this browser; the video's own comes with the service's first answer. */
  id: string;
  environmentId: string;
  filename: string;
  sizeBytes: number;
  sentBytes: number;
  state: "waiting" | "uploading" | "done" | "failed";
  /** Why it failed, for people. */
  problem: string | null;
}

interface Running {
  view: UploadView;
  file: File;
  /** The same for the same file of the same environment, also in another tab and after a reload. */
  key: string;
  /** Stops sending; `terminate` deletes on the server what has arrived. Null while nothing is sent. */
  abort: ((terminate: boolean) => Promise<void>) | null;
}

/**
 * Uploads from this browser, three at once; they continue while pages change. An upload that was interrupted
 * resumes when the same file is added again.
 */
export class UploadQueue {
  #all: Running[] = [];
  #views: readonly UploadView[] = [];
  readonly #listeners = new Set<() => void>();
  #made = 0;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The same array until something changes. */
  readonly views = (): readonly UploadView[] => this.#views;

  get isBusy(): boolean {
    return this.#all.some(({ view }) => view.state === "waiting" || view.state === "uploading");
  }

  add(environmentId: string, files: Iterable<File>): void {
    for (const file of files) {
      const key = keyOf(environmentId, file);
      const same = this.#all.find((each) => each.key === key && each.view.state !== "done");
      if (same) {
        this.retry(same.view.id);
        continue;
      }
      this.#made += 1;
      const view: UploadView = {
        id: `upload ${this.#made}`,
        environmentId,
        filename: file.name,
        sizeBytes: file.size,
        sentBytes: 0,
        state: "waiting",
        problem: null,
      };
      this.#all.push({ view, file, key, abort: null });
    }
    this.#go();
  }

  retry(id: string): void {
    const running = this.#find(id);
    if (running?.view.state !== "failed") return;
    this.#change(running, { state: "waiting", problem: null });
    this.#go();
  }

  /** Ends an upload, on the service too, and forgets it. */
  async remove(id: string): Promise<void> {
    const running = this.#find(id);
    if (!running) return;
    this.#all = this.#all.filter((each) => each !== running);
    this.#tell();
    if (running.view.state === "done") return;
    forget(running);
    await running.abort?.(true);
    this.#go();
  }

  /** Ends all that this browser sends; the service keeps what has come, and each goes on when its file is given again. */
  async stop(): Promise<void> {
    const ended = this.#all;
    this.#all = [];
    this.#tell();
    await Promise.all(ended.map(({ abort }) => abort?.(false)));
  }

  clearDone(): void {
    this.#all = this.#all.filter(({ view }) => view.state !== "done");
    this.#tell();
  }

  #find(id: string): Running | undefined {
    return this.#all.find(({ view }) => view.id === id);
  }

  #go(): void {
    let free = AT_ONCE - this.#all.filter(({ view }) => view.state === "uploading").length;
    for (const running of this.#all) {
      if (free <= 0) break;
      if (running.view.state !== "waiting") continue;
      free -= 1;
      this.#change(running, { state: "uploading" });
      this.#sendAlone(running)
        .then(
          () => this.#change(running, { state: "done", sentBytes: running.view.sizeBytes }),
          (error) => this.#change(running, { state: "failed", problem: uploadProblem(error) }),
        )
        .finally(() => this.#go());
    }
    this.#tell();
  }

  /** Two tabs that send the same file would compete for the upload. */
  async #sendAlone(running: Running): Promise<void> {
    // Browsers offer locks only to pages loaded over HTTPS or from localhost.
    if (!navigator.locks) return await this.#send(running);
    await navigator.locks.request(running.key, { ifAvailable: true }, async (lock) => {
      if (!lock) throw new Error("This file is already being uploaded in another tab.");
      await this.#send(running);
    });
  }

  async #send(running: Running): Promise<void> {
    // There would be nothing to send, and so nothing that ends the upload.
    if (running.file.size === 0) throw new Error("The file is empty.");
    const remembered = recall(running);
    if (remembered !== null) {
      try {
        return await this.#sendTo(remembered, running);
      } catch (error) {
        if (!GONE.includes(statusOf(error) ?? 0)) throw error;
        forget(running);
      }
    }
    const { environmentId, filename, sizeBytes } = running.view;
    const { upload } = await request("POST /environments/:environment/videos", {
      params: { environment: environmentId },
      body: { filename, sizeBytes },
    });
    // The page may be open under another name than PUBLIC_URL says; it may only speak with its own origin.
    const { pathname, search } = new URL(upload.url);
    remember(running, pathname + search);
    await this.#sendTo(pathname + search, running);
  }

  async #sendTo(uploadUrl: string, running: Running): Promise<void> {
    const { Upload } = await import("tus-js-client");
    if (!this.#all.includes(running)) {
      // It was taken back before its place was known, which nobody would ever fill.
      await Upload.terminate(new URL(uploadUrl, location.origin).href);
      forget(running);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const upload = new Upload(running.file, {
        uploadUrl: new URL(uploadUrl, location.origin).href,
        retryDelays: RETRY_AFTER_MS,
        storeFingerprintForResuming: false,
        onProgress: (sentBytes) => this.#change(running, { sentBytes }),
        onSuccess: () => {
          forget(running);
          resolve();
        },
        onError: reject,
      });
      running.abort = async (terminate) => {
        // At once, so that the same file can be added again while the server deletes what has arrived.
        resolve();
        await upload.abort(terminate).catch(() => {});
      };
      upload.start();
    });
  }

  #change(running: Running, change: Partial<UploadView>): void {
    running.view = { ...running.view, ...change };
    this.#tell();
  }

  #tell(): void {
    this.#views = this.#all.map(({ view }) => view);
    for (const listener of this.#listeners) listener();
  }
}

function keyOf(environmentId: string, { name, size, lastModified }: File): string {
  return MEMORY_PREFIX + JSON.stringify([environmentId, name, size, lastModified]);
}

function recall(running: Running): string | null {
  try {
    return localStorage.getItem(running.key);
  } catch {
    return null;
  }
}

function remember(running: Running, uploadUrl: string): void {
  try {
    localStorage.setItem(running.key, uploadUrl);
  } catch {
    // Without a memory the upload works all the same; it can only not go on after a reload.
  }
}

function forget(running: Running): void {
  try {
    localStorage.removeItem(running.key);
  } catch {
    // Nothing was remembered.
  }
}

/** The parts of a tus-js-client error that say how a request failed. */
interface FailedRequest {
  originalRequest?: object | null;
  originalResponse?: { getStatus(): number; getBody(): string } | null;
}

/** Null if no response arrived, or the error is not about a tus request. */
function statusOf(error: unknown): number | null {
  return (error as FailedRequest).originalResponse?.getStatus() ?? null;
}

/** For people, who read `4 MB` better than `4000000 bytes`. */
function uploadProblem(error: unknown): string {
  return refusalOf(error).replace(/\b(\d{4,}) bytes\b/g, (_, count) => bytes(Number(count)));
}

function refusalOf(error: unknown): string {
  const { originalRequest, originalResponse } = error as FailedRequest;
  if (!originalRequest) return messageOf(error);
  if (!originalResponse) return new UnreachableError(error).message;
  try {
    return (JSON.parse(originalResponse.getBody()) as { detail: string }).detail;
  } catch {
    return `The upload was refused (HTTP ${originalResponse.getStatus()}).`;
  }
}
