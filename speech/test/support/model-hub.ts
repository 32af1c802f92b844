import { createHash } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export interface ServedFile {
  content: Buffer;
  /** Whether the file is in large file storage: the hub redirects to its CDN and states a SHA-256. */
  large: boolean;
}

/** Faults of the hub; by default, none. */
export interface HubFaults {
  /** Error statuses of the next requests for content. */
  statuses?: number[];
  /** Closes the connection after this many bytes of content. */
  cutAfterBytes?: number;
  /** Never responds to requests for content. */
  silent?: boolean;
  /** Sends this many bytes of content, then nothing more. */
  stallAfterBytes?: number;
  /** Sends one byte at a time, with this delay after each. */
  trickleMs?: number;
  /** Delay before each chunk of 64 KiB. Can be changed while a response is sent. */
  pieceDelayMs?: number;
  /** States hashes that do not match the content. */
  wrongHashes?: boolean;
  /** States neither commit nor hash, like a plain file server. Its ETags still look like hashes. */
  plain?: boolean;
  /** Redirects requests for small files to another path of the hub, whose response states only the hash. */
  ownRedirects?: boolean;
  /** Omits the lengths of files. */
  withoutLengths?: boolean;
  /** Ignores `Range`. */
  withoutRanges?: boolean;
  /** Serves the newest content for every commit. */
  ignoresRevisions?: boolean;
  /** Requires this bearer token. */
  token?: string;
}

export interface SeenRequest {
  server: "hub" | "cdn";
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
}

/** A model hub on loopback with a CDN at another origin, like the public hub. */
export class ModelHub {
  faults: HubFaults = {};
  /** Without a trailing slash. */
  url = "";
  /** Called with each request before the response. */
  onRequest: (request: SeenRequest) => void = () => {};
  readonly requests: SeenRequest[] = [];
  /** Bytes of content sent, except with `trickleMs`. */
  bytesServed = 0;
  readonly #commits = new Map<string, Map<string, ServedFile>>();
  #newest = "";
  readonly #hub = createServer(this.#listener("hub", (...request) => this.#resolve(...request)));
  readonly #cdn = createServer(this.#listener("cdn", (...request) => this.#serveFromCdn(...request)));

  static async start(repository: string, files: Record<string, ServedFile>): Promise<ModelHub> {
    const hub = new ModelHub();
    hub.push(repository, files);
    await Promise.all([listen(hub.#hub), listen(hub.#cdn)]);
    hub.url = urlOf(hub.#hub);
    return hub;
  }

  get commit(): string {
    return this.#newest;
  }

  /** Adds a commit to `main`; earlier commits remain available. */
  push(repository: string, files: Record<string, ServedFile>): void {
    const served = Object.entries(files).map(([path, file]) => [`${repository}/${path}`, file] as const);
    this.#newest = createHash("sha1").update(`${this.#commits.size} ${repository}`).digest("hex");
    this.#commits.set(this.#newest, new Map(served));
  }

  /** Removes earlier commits, as when a history is squashed. */
  forgetHistory(): void {
    for (const commit of this.#commits.keys()) if (commit !== this.#newest) this.#commits.delete(commit);
  }

  async stop(): Promise<void> {
    for (const server of [this.#hub, this.#cdn]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  /** Returns the hub's requests for the content of a file. */
  gets(path: string): SeenRequest[] {
    return this.requests.filter(
      (request) => request.server === "hub" && request.method === "GET" && request.path.endsWith(`/${path}`),
    );
  }

  #listener(
    server: "hub" | "cdn",
    handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  ): RequestListener {
    return (request, response) => {
      const { method = "", url = "", headers } = request;
      const seen = { server, method, path: url, headers };
      this.requests.push(seen);
      this.onRequest(seen);
      // Ignore clients that disconnect.
      response.on("error", () => {});
      handle(request, response).catch(() => response.destroy());
    };
  }

  async #resolve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const match = /^(?:\/cache)?\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(request.url ?? "");
    const cached = request.url?.startsWith("/cache/") ?? false;
    const [, repository, revision = "", path] = match ?? [];
    if (this.faults.token && request.headers.authorization !== `Bearer ${this.faults.token}`) {
      return void response.writeHead(401).end();
    }
    const isNewest = revision === "main" || this.faults.ignoresRevisions;
    const commit = isNewest ? this.#newest : revision;
    const file = this.#commits.get(commit)?.get(`${repository}/${path}`);
    if (!file) return void response.writeHead(404).end("Entry not found");
    if (request.method === "GET" && (await this.#failsRequest(response))) return;

    const { plain, wrongHashes } = this.faults;
    const hash = wrongHashes ? "0".repeat(file.large ? 64 : 40) : hashOf(file);
    if (!plain && !cached) response.setHeader("x-repo-commit", commit);
    if (!file.large && this.faults.ownRedirects && !cached) {
      const location = `/cache/${repository}/resolve/${commit}/${path}`;
      return void response.writeHead(307, { location }).end();
    }
    if (!file.large) {
      response.setHeader("etag", `"${plain ? commit : hash}"`);
      return await this.#serve(request, response, file.content);
    }
    if (!plain) response.setHeader("x-linked-etag", `"${hash}"`);
    if (!plain && !this.faults.withoutLengths) response.setHeader("x-linked-size", file.content.length);
    response.writeHead(302, { location: `${urlOf(this.#cdn)}/${commit}/${repository}/${path}` }).end();
  }

  async #serveFromCdn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [commit = "", ...path] = (request.url ?? "").slice(1).split("/");
    const file = this.#commits.get(commit)?.get(path.join("/"));
    if (!file) return void response.writeHead(403).end();
    response.setHeader("etag", `"network-${commit.slice(0, 8)}"`);
    await this.#serve(request, response, file.content);
  }

  async #failsRequest(response: ServerResponse): Promise<boolean> {
    const status = this.faults.statuses?.shift();
    if (status !== undefined) response.writeHead(status, { "retry-after": "0" }).end();
    return status !== undefined || this.faults.silent === true;
  }

  async #serve(request: IncomingMessage, response: ServerResponse, content: Buffer): Promise<void> {
    const { withoutRanges, withoutLengths } = this.faults;
    const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? "") ?? [];
    const condition = request.headers["if-range"];
    const fits = condition === undefined || condition === response.getHeader("etag");
    const start = from !== undefined && fits && !withoutRanges ? Number(from) : 0;
    if (start > 0 && start >= content.length) return void response.writeHead(416).end();
    if (start > 0) {
      response.statusCode = 206;
      response.setHeader("content-range", `bytes ${start}-${content.length - 1}/${content.length}`);
    }
    if (!withoutLengths) response.setHeader("content-length", content.length - start);
    if (request.method === "HEAD") return void response.end();
    await this.#send(response, content.subarray(start));
  }

  async #send(response: ServerResponse, content: Buffer): Promise<void> {
    const { cutAfterBytes, stallAfterBytes, trickleMs } = this.faults;
    for (let at = 0; trickleMs !== undefined && at < content.length && !response.destroyed; at++) {
      response.write(content.subarray(at, at + 1));
      await delay(trickleMs);
    }
    const last = Math.min(content.length, cutAfterBytes ?? stallAfterBytes ?? content.length);
    for (let at = 0; at < last && !response.destroyed; at += 65_536) {
      if (this.faults.pieceDelayMs) await delay(this.faults.pieceDelayMs);
      const chunk = content.subarray(at, Math.min(at + 65_536, last));
      this.bytesServed += chunk.length;
      await new Promise((resolve) => response.write(chunk, resolve));
    }
    if (stallAfterBytes !== undefined && last < content.length) return;
    if (last < content.length) response.destroy();
    else response.end();
  }
}

function hashOf({ content, large }: ServedFile): string {
  if (large) return createHash("sha256").update(content).digest("hex");
  return createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
}

async function listen(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
