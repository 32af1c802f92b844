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
  /** Stored in large file storage: the hub redirects to its content network, and states a SHA-256. */
  large: boolean;
}

/** What is wrong with the hub; nothing where left out. */
export interface HubFaults {
  /** Answers to the next requests for content, before any that gives some. */
  statuses?: number[];
  /** The connection breaks after so many bytes of every answer. */
  cutAfterBytes?: number;
  /** Takes requests for content and never answers. */
  silent?: boolean;
  /** Begins an answer, gives so many bytes, and no more. */
  stallAfterBytes?: number;
  /** Gives one byte every so many milliseconds. */
  trickleMs?: number;
  /** A pause before every piece of 64 KiB, milliseconds. */
  pieceDelayMs?: number;
  /** States hashes that the content does not have. */
  wrongHashes?: boolean;
  /** States neither commit nor hash, as a plain file server does, whose own tags look like hashes all the same. */
  plain?: boolean;
  /** Redirects requests for small files to another of its paths, which states only the hash. */
  ownRedirects?: boolean;
  /** Gives no lengths. */
  withoutLengths?: boolean;
  /** Knows no ranges. */
  withoutRanges?: boolean;
  /** Gives the newest content whatever commit is asked for. */
  ignoresRevisions?: boolean;
  /** Asks for this bearer token. */
  token?: string;
}

export interface SeenRequest {
  server: "hub" | "cdn";
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
}

/** A hub of models on loopback, with a content network of another origin, as the public one has. */
export class ModelHub {
  faults: HubFaults = {};
  /** Without a slash at its end. */
  url = "";
  /** Called with each request before it is answered. */
  onRequest: (request: SeenRequest) => void = () => {};
  readonly requests: SeenRequest[] = [];
  /** Bytes of content that were given to connections. */
  bytesServed = 0;
  readonly #commits = new Map<string, Map<string, ServedFile>>();
  #newest = "";
  readonly #hub = createServer(this.#guarded("hub", (...request) => this.#resolve(...request)));
  readonly #cdn = createServer(this.#guarded("cdn", (...request) => this.#giveFromNetwork(...request)));

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

  /** A new commit on `main`; earlier ones stay. */
  push(repository: string, files: Record<string, ServedFile>): void {
    const served = Object.entries(files).map(([path, file]) => [`${repository}/${path}`, file] as const);
    this.#newest = createHash("sha1").update(`${this.#commits.size} ${repository}`).digest("hex");
    this.#commits.set(this.#newest, new Map(served));
  }

  /** Takes earlier commits away, as a squashed history does. */
  forgetHistory(): void {
    for (const commit of this.#commits.keys()) if (commit !== this.#newest) this.#commits.delete(commit);
  }

  async stop(): Promise<void> {
    for (const server of [this.#hub, this.#cdn]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  /** Requests for content of a file. */
  gets(path: string): SeenRequest[] {
    return this.requests.filter(
      (request) => request.server === "hub" && request.method === "GET" && request.path.endsWith(`/${path}`),
    );
  }

  #guarded(
    server: "hub" | "cdn",
    handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  ): RequestListener {
    return (request, response) => {
      const { method = "", url = "", headers } = request;
      const seen = { server, method, path: url, headers };
      this.requests.push(seen);
      this.onRequest(seen);
      // A client that goes away is no fault of the hub.
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
    const moved = revision === "main" || this.faults.ignoresRevisions;
    const commit = moved ? this.#newest : revision;
    const file = this.#commits.get(commit)?.get(`${repository}/${path}`);
    if (!file) return void response.writeHead(404).end("Entry not found");
    if (request.method === "GET" && (await this.#misbehaves(response))) return;

    const { plain, wrongHashes } = this.faults;
    const hash = wrongHashes ? "0".repeat(file.large ? 64 : 40) : hashOf(file);
    if (!plain && !cached) response.setHeader("x-repo-commit", commit);
    if (!file.large && this.faults.ownRedirects && !cached) {
      const location = `/cache/${repository}/resolve/${commit}/${path}`;
      return void response.writeHead(307, { location }).end();
    }
    if (!file.large) {
      response.setHeader("etag", `"${plain ? commit : hash}"`);
      return await this.#give(request, response, file.content);
    }
    if (!plain) response.setHeader("x-linked-etag", `"${hash}"`);
    if (!plain && !this.faults.withoutLengths) response.setHeader("x-linked-size", file.content.length);
    response.writeHead(302, { location: `${urlOf(this.#cdn)}/${commit}/${repository}/${path}` }).end();
  }

  async #giveFromNetwork(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [commit = "", ...path] = (request.url ?? "").slice(1).split("/");
    const file = this.#commits.get(commit)?.get(path.join("/"));
    if (!file) return void response.writeHead(403).end();
    response.setHeader("etag", `"network-${commit.slice(0, 8)}"`);
    await this.#give(request, response, file.content);
  }

  async #misbehaves(response: ServerResponse): Promise<boolean> {
    const status = this.faults.statuses?.shift();
    if (status !== undefined) response.writeHead(status, { "retry-after": "0" }).end();
    return status !== undefined || this.faults.silent === true;
  }

  async #give(request: IncomingMessage, response: ServerResponse, content: Buffer): Promise<void> {
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
    const { cutAfterBytes, stallAfterBytes, pieceDelayMs, trickleMs } = this.faults;
    for (let at = 0; trickleMs !== undefined && at < content.length && !response.destroyed; at++) {
      response.write(content.subarray(at, at + 1));
      await delay(trickleMs);
    }
    const last = Math.min(content.length, cutAfterBytes ?? stallAfterBytes ?? content.length);
    for (let at = 0; at < last && !response.destroyed; at += 65_536) {
      if (pieceDelayMs) await delay(pieceDelayMs);
      const piece = content.subarray(at, Math.min(at + 65_536, last));
      this.bytesServed += piece.length;
      await new Promise((resolve) => response.write(piece, resolve));
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
