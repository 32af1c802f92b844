import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { acceptsEncoding } from "./accepts-encoding.ts";
import { matchesEtag } from "./send-file.ts";

const compress = promisify(gzip);

/**
 * Responds with large JSON that rarely changes. Compresses it and lets the browser cache it until the tag changes.
 * @param tag identifies the content; without quotes
 * @param render returns the JSON text; called only if the text must be sent
 */
export async function sendJson(
  request: FastifyRequest,
  reply: FastifyReply,
  { tag, render }: { tag: string; render: () => Promise<string | Buffer> },
): Promise<FastifyReply> {
  const unchanged = matchesEtag(request.headers["if-none-match"], `"${tag}"`);
  const body = unchanged ? "" : await render();
  reply.headers({
    // A weak tag, because the compressed and the uncompressed text share it.
    etag: `W/"${tag}"`,
    "cache-control": "private, no-cache",
    vary: "Accept-Encoding",
  });
  if (unchanged) return await reply.code(304).send();
  reply.type("application/json; charset=utf-8");
  if (!acceptsEncoding(request.headers["accept-encoding"], "gzip")) return await reply.send(body);
  return await reply.header("content-encoding", "gzip").send(await compress(body));
}
