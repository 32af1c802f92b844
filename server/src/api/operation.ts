import type { BodyOf, Operation, ParamsOf, QueryOf, SuccessOf } from "@subtext/client/contract/operation";
import type { Permission } from "@subtext/client/contract/permission";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import type { Authorize, Principal } from "../api-keys/authorize.ts";
import type { KeyRow, KeyWithVideo, VideoWithTranscription } from "../api-keys/key-and-video-queries.ts";
import type { AuditActor } from "../audit/audit-events.ts";
import type { Db, Tx } from "../db/schema.ts";
import { disableBodyParsing } from "../http/disable-body-parsing.ts";
import { findRepeated, runIdempotently } from "../http/idempotency.ts";
import type { Clock } from "../lib/clock.ts";
import { noSuchVideo } from "../videos/queries.ts";

export interface OperationDeps {
  db: Db;
  clock: Clock;
  /** Checks key, rate limit and permission. */
  authorize(permission: Permission): Authorize;
  /** Like `authorize`, but also reads the requested video in the same query. */
  authorizeVideo(permission: Permission): Authorize<KeyWithVideo>;
}

/** An authorized and validated request. */
export interface Call<O extends Operation> {
  environmentId: string;
  params: ParamsOf<O>;
  query: QueryOf<O>;
  body: BodyOf<O>;
  request: FastifyRequest;
  reply: FastifyReply;
  auditActor: AuditActor;
}

/**
 * Registers the route of an operation, with its authorization and validation. The handler returns the response body.
 */
export function serve<const O extends Operation>(
  app: FastifyInstance,
  deps: OperationDeps,
  operation: O,
  handle: (call: Call<O>) => Promise<SuccessOf<O>>,
): void {
  route(app, operation, deps.authorize(permissionOf(operation)), async (call) =>
    succeed(operation, await handle(call)),
  );
}

/** Like `serve`, for operations that read one video. The video is read together with the key. */
export function serveVideo<const O extends Operation>(
  app: FastifyInstance,
  deps: OperationDeps,
  operation: O,
  handle: (call: Call<O> & { video: VideoWithTranscription }) => Promise<SuccessOf<O>>,
): void {
  route(app, operation, deps.authorizeVideo(permissionOf(operation)), async (call, { video }) => {
    if (!video) throw noSuchVideo();
    return succeed(operation, await handle({ ...call, video }));
  });
}

/**
 * Like `serve`, for a POST that runs in one transaction. If the request has an `Idempotency-Key`, the transaction also
 * stores the response.
 */
export function serveOnce<const O extends Operation>(
  app: FastifyInstance,
  deps: OperationDeps,
  operation: O,
  handle: (call: Call<O> & { tx: Tx }) => Promise<SuccessOf<O>>,
): void {
  route(app, operation, deps.authorize(permissionOf(operation)), async (call) => {
    const { environmentId, request, reply } = call;
    const answer = await runIdempotently(deps, { environmentId, request }, async (tx) => ({
      status: operation.success.status,
      body: JSON.stringify(await handle({ ...call, tx })),
    }));
    if (answer.repeated) reply.header("idempotency-replayed", "true");
    return answer;
  });
}

/**
 * Like `serveVideo`, for a PUT. `prepare` does what must not happen in a transaction; what it returns runs in one, like
 * the handler of `serveOnce`. Neither runs for a repeated request with an `Idempotency-Key`.
 */
export function serveVideoOnce<const O extends Operation>(
  app: FastifyInstance,
  deps: OperationDeps,
  operation: O,
  prepare: (
    call: Call<O> & { video: VideoWithTranscription },
  ) => Promise<(tx: Tx) => Promise<SuccessOf<O> & { etag: string }>>,
): void {
  route(app, operation, deps.authorizeVideo(permissionOf(operation)), async (call, { video }) => {
    const { environmentId, request, reply } = call;
    if (!video) throw noSuchVideo();
    let answer = await findRepeated(deps, { environmentId, request });
    if (!answer) {
      const commit = await prepare({ ...call, video });
      answer = await runIdempotently(deps, { environmentId, request }, async (tx) => ({
        status: operation.success.status,
        body: JSON.stringify(await commit(tx)),
      }));
    }
    if (answer.repeated) reply.header("idempotency-replayed", "true");
    reply.header("etag", (JSON.parse(answer.body) as { etag: string }).etag);
    return answer;
  });
}

interface Answer {
  status: number;
  /** The response as JSON; null for an empty body. */
  body: string | null;
}

function succeed<O extends Operation>({ success }: O, body: SuccessOf<O>): Answer {
  return { status: success.status, body: body === undefined ? null : JSON.stringify(body) };
}

function permissionOf({ id, permission }: Operation): Permission {
  if (permission === null) throw new TypeError(`${id} defines no permission`);
  return permission;
}

function route<const O extends Operation, Key extends KeyRow>(
  app: FastifyInstance,
  operation: O,
  authorize: Authorize<Key>,
  answer: (call: Call<O>, key: Key) => Promise<Answer>,
): void {
  const { method, path, query, body, maxBodyBytes } = operation;
  const principals = new WeakMap<FastifyRequest, Principal<Key>>();
  const options: RouteOptions = {
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
    schema: { ...(query && { querystring: query }), ...(body && { body }) },
    ...(maxBodyBytes !== undefined && { bodyLimit: maxBodyBytes }),
    // Runs before the body is read, so that the service does not read bodies of unauthorized clients.
    onRequest: async (request, reply) => {
      principals.set(request, await authorize(request, reply));
    },
    handler: async (request, reply) => {
      const { environmentId, key } = principals.get(request)!;
      // The schemas above have validated these values.
      const call = {
        environmentId,
        params: request.params,
        query: request.query,
        body: request.body,
        request,
        reply,
        auditActor: { kind: "api_key", id: key.id, name: key.name, address: request.ip },
      } as Call<O>;
      const { status, body } = await answer(call, key);
      reply.code(status).header("cache-control", "no-store");
      if (body === null) return reply.send();
      return reply.type("application/json; charset=utf-8").send(body);
    },
  };
  if (body) app.route(options);
  else app.register(async (scope) => void disableBodyParsing(scope).route(options));
}
