import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { acceptsEncoding } from "../http/accepts-encoding.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { PAGE_PATHS } from "./contract/pages.ts";

const MEDIA_TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

/** Preferred encoding first. The build writes the encoded copies next to each file that compresses well. */
const ENCODINGS = [
  { name: "br", suffix: ".br" },
  { name: "gzip", suffix: ".gz" },
] as const;

/** Allows only resources of this origin, nothing inline and no framing. Recordings may also come from their storage. */
function contentSecurityPolicy(mediaOrigin: string | null): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    `media-src 'self' blob:${mediaOrigin === null ? "" : ` ${mediaOrigin}`}`,
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

export interface DashboardOptions {
  /** The build's folder; if it does not exist, the pages explain how to build them. */
  folder: string;
  /** Origin from which the player loads recordings; null if this service serves them. */
  mediaOrigin: string | null;
}

interface Asset {
  mediaType: string;
  etag: string;
  plain: Buffer;
  encoded: Partial<Record<string, Buffer>>;
}

/**
 * Serves the built dashboard: one document for all pages, and the assets below `/assets/`. Everything is held in memory
 * and takes a few hundred kilobytes.
 */
export async function registerDashboard(
  app: FastifyInstance,
  { folder, mediaOrigin }: DashboardOptions,
): Promise<void> {
  const policy = contentSecurityPolicy(mediaOrigin);
  const assets = await readAssets(folder);
  const document = assets.get("/index.html");
  for (const path of PAGE_PATHS) {
    app.get(path, async (request, reply) => {
      reply.headers({
        "content-security-policy": policy,
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
        // The document names the assets of one build. It is small, so browsers always revalidate it.
        "cache-control": "no-cache",
      });
      if (document) return await send(document, request, reply);
      throw new AppError(
        "service_unavailable",
        "The dashboard was not built. Run `npm run build -w @subtext/dashboard`, then start the service again.",
      );
    });
  }
  app.get("/assets/*", async (request, reply) => {
    const path = request.url.replace(/\?.*$/s, "");
    const asset = assets.get(path);
    if (!asset) throw new AppError("route_not_found", `There is nothing at ${path}.`);
    // Asset names contain a hash of their content.
    reply.header("cache-control", "public, max-age=31536000, immutable");
    return await send(asset, request, reply);
  });
}

async function send(asset: Asset, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const encoding = ENCODINGS.find(
    ({ name }) => asset.encoded[name] && acceptsEncoding(request.headers["accept-encoding"], name),
  );
  const body = (encoding && asset.encoded[encoding.name]) ?? asset.plain;
  const etag = encoding ? `"${asset.etag}-${encoding.name}"` : `"${asset.etag}"`;
  reply.headers({ etag, vary: "Accept-Encoding" });
  if (request.headers["if-none-match"] === etag) return await reply.code(304).send();
  if (encoding) reply.header("content-encoding", encoding.name);
  return await reply.type(asset.mediaType).send(body);
}

/** Returns the origin of a storage that serves recordings itself; null if this service serves them. */
export async function findMediaOrigin(recordings: RecordingStore, now: Date): Promise<string | null> {
  const options = { contentType: "video/mp4", fileName: "any", lifetimeSeconds: 60, now };
  const presigned = await recordings.presign(newId("video"), options);
  return presigned && new URL(presigned.url).origin;
}

/** Reads all assets, keyed by URL path. */
async function readAssets(folder: string): Promise<Map<string, Asset>> {
  const assets = new Map<string, Asset>();
  if (!existsSync(folder)) return assets;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const mediaType = MEDIA_TYPES[extname(entry.name)];
    if (!entry.isFile() || !mediaType) continue;
    const file = join(entry.parentPath, entry.name);
    const plain = await readFile(file);
    const encoded: Asset["encoded"] = {};
    for (const { name, suffix } of ENCODINGS) {
      if (existsSync(file + suffix)) encoded[name] = await readFile(file + suffix);
    }
    const etag = createHash("sha256").update(plain).digest("base64url").slice(0, 22);
    assets.set(`/${relative(folder, file).split(sep).join("/")}`, { mediaType, etag, plain, encoded });
  }
  return assets;
}
