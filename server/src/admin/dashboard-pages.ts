import type { FastifyInstance } from "fastify";
import { readStaticFiles, sendStaticFile, withText } from "../http/static-files.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { PAGE_PATHS } from "./contract/pages.ts";

/** Allows only resources of this origin, no inline code and no framing. Recordings may also come from the storage. */
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
  /** Folder of the dashboard's build. If it does not exist, pages return instructions for building it. */
  folder: string;
  /** Origin from which the player loads recordings; null if this service serves them. */
  mediaOrigin: string | null;
  /** How users run the command line on the server; see `programCommand`. */
  command: string;
}

/** Matches the `<meta>` element up to its content, which becomes `command`. Messages on the pages show it. */
const COMMAND_TAG = /(<meta name="subtext-command" content=")[^"]*/;

/**
 * Serves the built dashboard: one document for all pages, and the assets below `/assets/`. All files are kept in
 * memory, where they take a few hundred kilobytes.
 */
export async function registerDashboard(
  app: FastifyInstance,
  { folder, mediaOrigin, command }: DashboardOptions,
): Promise<void> {
  const policy = contentSecurityPolicy(mediaOrigin);
  const assets = await readStaticFiles(folder);
  const built = assets.get("index.html");
  const document =
    built?.plain && withText(built, built.plain.toString().replace(COMMAND_TAG, `$1${command}`));
  for (const path of PAGE_PATHS) {
    app.get(path, async (request, reply) => {
      reply.headers({
        "content-security-policy": policy,
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
        // The document references the assets of one build, so browsers must revalidate it.
        "cache-control": "no-cache",
      });
      if (document) return await sendStaticFile(document, request, reply);
      throw new AppError(
        "service_unavailable",
        "The dashboard was not built. Run `npm run build -w @subtext/dashboard`, then start the service again.",
      );
    });
  }
  app.get("/assets/*", async (request, reply) => {
    const path = request.url.replace(/\?.*$/s, "");
    const asset = assets.get(path.slice(1));
    if (!asset) throw new AppError("route_not_found", `There is nothing at ${path}.`);
    // Asset names contain a hash of their content.
    reply.header("cache-control", "public, max-age=31536000, immutable");
    return await sendStaticFile(asset, request, reply);
  });
}

/** Returns the origin of the storage if it serves recordings to browsers; null if this service does. */
export async function findMediaOrigin(recordings: RecordingStore, now: Date): Promise<string | null> {
  const options = { contentType: "video/mp4", fileName: "any", lifetimeSeconds: 60, now };
  const presigned = await recordings.presign(newId("video"), options);
  return presigned && new URL(presigned.url).origin;
}
