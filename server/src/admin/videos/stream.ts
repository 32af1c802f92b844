import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { getEnvironment } from "../../environments/environments.ts";
import { defineHandlers } from "../operation.ts";
import { VideoChanges } from "./changes.ts";
import type { VideoListDeps } from "./videos.ts";

/** Shorter than the idle timeout of common proxies. */
const HEARTBEAT_MS = 15_000;
/** A client that falls further behind is disconnected; it reconnects and reads the list. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/**
 * Streams changes to an environment's videos as server-sent events: `change` contains the current state of videos;
 * `reload` asks the client to read the list again. Clients must read the list after the stream opens, because the
 * stream reports only later changes.
 */
export function videoStreamHandlers(app: FastifyInstance, deps: VideoListDeps) {
  const { db } = deps;
  const changes = new VideoChanges({ ...deps, log: app.log as FastifyBaseLogger & Logger });
  const endings = new Set<() => void>();
  app.addHook("preClose", async () => {
    for (const end of endings) end();
  });

  return defineHandlers({
    "GET /environments/:environment/videos/changes": async ({ params, request, reply, isAuthorized }) => {
      const environment = await getEnvironment(db, params.environment);
      const stream = reply.raw;
      const send = (text: string) => {
        if (stream.writableEnded) return;
        if (stream.writableLength > MAX_UNREAD_BYTES) stream.destroy();
        else stream.write(text);
      };
      // Subscribes before the stream opens, so that no change is missed before the client's first read.
      const stop = await changes.subscribe(environment.id, (changed) =>
        send(changed ? `event: change\ndata: ${JSON.stringify(changed)}\n\n` : "event: reload\ndata: {}\n\n"),
      );
      reply.hijack();
      if (stream.destroyed) {
        stop();
        return;
      }
      stream.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        // Prevents nginx from buffering events.
        "x-accel-buffering": "no",
      });
      send("retry: 2000\n\n");

      const heartbeat = setInterval(async () => {
        // A client must not receive anything after its session ends or the operator's role is revoked.
        if (await isAuthorized()) send(":\n\n");
        else stream.end();
      }, HEARTBEAT_MS);
      const end = () => stream.end();
      endings.add(end);
      // `close` follows and cleans up.
      stream.on("error", (error) => request.log.debug({ err: error }, "video stream connection failed"));
      // A client that disconnects may close only its half of the connection.
      if (request.raw.socket.readableEnded) end();
      else request.raw.socket.once("end", end);
      await new Promise((resolve) => stream.once("close", resolve));
      // The connection may be kept alive for other requests.
      request.raw.socket.off("end", end);
      endings.delete(end);
      clearInterval(heartbeat);
      stop();
    },
  });
}
