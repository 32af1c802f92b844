import { mkdtemp, rm } from "node:fs/promises";
import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import Fastify, { type FastifyInstance } from "fastify";
import { registerFiles } from "../../src/api/files.ts";
import { registerProblems, sendProblem } from "../../src/http/problems.ts";
import type { Clock } from "../../src/lib/clock.ts";
import {
  type DiskTranscriptStore,
  type FileReader,
  openDiskTranscriptStore,
} from "../../src/storage/disk/disk-transcript-store.ts";

/** The public address of the storage, as if a proxy were in front of it. */
export const BASE_URL = "https://captions.example/";

interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface FilesApp {
  app: FastifyInstance;
  transcripts: DiskTranscriptStore;
  folder: string;
  secret: Uint8Array;
  port: number;
  /** The path and query of a URL for a file of that content. */
  urlFor(content: string | Uint8Array, options?: { name?: string; type?: string }): Promise<string>;
  /** Sends the target verbatim; fetch would normalize it. */
  send(target: string, options?: { method?: string; headers?: OutgoingHttpHeaders }): Promise<RawAnswer>;
  close(): Promise<void>;
}

/** Only the route, on a real socket and a real folder. */
export async function startFilesApp(
  clock: Clock,
  watch: (transcripts: FileReader) => FileReader = (transcripts) => transcripts,
): Promise<FilesApp> {
  const folder = await mkdtemp(join(tmpdir(), "subtext-files-"));
  const secret = new Uint8Array(32).fill(7);
  const transcripts = await openDiskTranscriptStore({ folder, baseUrl: BASE_URL, secret });
  const app = Fastify({ frameworkErrors: sendProblem });
  registerProblems(app);
  registerFiles(app, { transcripts: watch(transcripts), secret, clock });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  let made = 0;
  return {
    app,
    transcripts,
    folder,
    secret,
    port,
    async urlFor(content, { name = "a.txt", type = "text/plain" } = {}) {
      made += 1;
      const key = `made/${made}`;
      await transcripts.put(key, Buffer.from(content));
      const options = { contentType: type, fileName: name, lifetimeSeconds: 300, now: clock.now() };
      return targetOf((await transcripts.presign(key, options)).url);
    },
    send: (target, { method = "GET", headers = {} } = {}) =>
      new Promise((resolve, reject) => {
        const request = httpRequest({ port, host: "127.0.0.1", path: target, method, headers, agent: false });
        request.on("response", (response) => {
          buffer(response).then((body) => {
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
          }, reject);
        });
        request.on("error", reject).end();
      }),
    async close() {
      await app.close();
      await rm(folder, { recursive: true });
    },
  };
}

export function targetOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
