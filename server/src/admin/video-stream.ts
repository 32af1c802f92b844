import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { getEnvironment } from "../environments/environments.ts";
import type { Operators } from "../operators/operators.ts";
import { authHeaders } from "./access.ts";
import { VideoChanges } from "./video-changes.ts";
import type { VideoListDeps } from "./videos.ts";

/** Less than the time after which proxies take a silent connection for dead. */
const HEARTBEAT_MS = 15_000;
/** A listener that leaves so much unread is cut off; it comes back and reads the list. */
const MOST_UNREAD_BYTES = 4 * 1024 * 1024;

/**
 * Server-sent events of an environment's videos: `change` with videos as they are now, `reload` where the list
 * had better be read anew. Read the list once the stream is open: it tells what happens after.
 */
export function registerVideoStream(
  app: FastifyInstance,
  deps: VideoListDeps & { operators: Operators },
): void {
  const { db, operators } = deps;
  const changes = new VideoChanges({ ...deps, log: app.log as FastifyBaseLogger & Logger });
  const endings = new Set<() => void>();
  app.addHook("preClose", async () => {
    for (const end of endings) end();
  });

  app.get<{ Params: { environment: string } }>(
    "/environments/:environment/videos/changes",
    // An answer to HEAD has no body, and would yet not end.
    { exposeHeadRoute: false },
    async (request, reply) => {
      const environment = await getEnvironment(db, request.params.environment);
      const stream = reply.raw;
      const send = (text: string) => {
        if (stream.writableEnded) return;
        if (stream.writableLength > MOST_UNREAD_BYTES) stream.destroy();
        else stream.write(text);
      };
      // Before the stream is open: what is read once it is, and what it tells, leave nothing between them.
      const stop = await changes.listen(environment.id, (changed) =>
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
        // nginx would collect events otherwise.
        "x-accel-buffering": "no",
      });
      send("retry: 2000\n\n");

      const heartbeat = setInterval(async () => {
        // A session that has ended must see nothing more.
        const signedIn =
          request.actor === "command line" ||
          (await operators.findSession(authHeaders(request)).catch(() => null)) !== null;
        if (signedIn) send(":\n\n");
        else stream.end();
      }, HEARTBEAT_MS);
      const end = () => stream.end();
      endings.add(end);
      // A connection that breaks is closed too; that it broke is no fault of the service.
      stream.on("error", (error) => request.log.debug({ err: error }, "a listener's connection broke"));
      // Who leaves closes both halves of the connection, of which one is told.
      if (request.raw.socket.readableEnded) end();
      else request.raw.socket.once("end", end);
      await new Promise((resolve) => stream.once("close", resolve));
      endings.delete(end);
      clearInterval(heartbeat);
      stop();
    },
  );
}
