import type { FastifyInstance, FastifyRequest, RouteOptions } from "fastify";
import { validateRequest } from "../http/validate.ts";
import { AppError } from "../lib/errors.ts";
import {
  type AccessOptions,
  type Actor,
  auditActorOf,
  authorize,
  type Rule,
  rejectOtherOrigins,
} from "./access.ts";
import { apiKeyHandlers } from "./api-keys.ts";
import { auditHandlers } from "./audit.ts";
import { type Operation, RAW } from "./contract/operation.ts";
import { type DeliveryDeps, deliveryHandlers } from "./deliveries.ts";
import { environmentHandlers } from "./environments.ts";
import { ADMIN_OPERATIONS, type Call, type Handlers, type OperationKey } from "./operation.ts";
import { operatorHandlers } from "./operators.ts";
import { scopeOf } from "./scope.ts";
import { searchHandlers } from "./search.ts";
import { type SetupDeps, setupHandlers } from "./setup.ts";
import { SignInLimits } from "./sign-in/limits.ts";
import { signInHandlers } from "./sign-in/sign-in.ts";
import { type StoreDeps, storeHandlers } from "./storage.ts";
import { type SystemDeps, systemHandlers } from "./system.ts";
import { UploadedBytes } from "./uploaded-bytes.ts";
import { bulkOperationHandlers } from "./videos/bulk-operations.ts";
import { correctionHandlers } from "./videos/corrections.ts";
import { type VideoDetailDeps, videoDetailHandlers } from "./videos/detail.ts";
import { videoFileHandlers } from "./videos/files.ts";
import { videoStreamHandlers } from "./videos/stream.ts";
import { transcriptionHandlers } from "./videos/transcriptions.ts";
import { type UploadDeps, videoHandlers } from "./videos/videos.ts";
import { type WebhookEndpointDeps, webhookEndpointHandlers } from "./webhook-endpoints.ts";

export interface AdminDeps
  extends AccessOptions,
    DeliveryDeps,
    UploadDeps,
    Omit<VideoDetailDeps, "uploadedBytes">,
    WebhookEndpointDeps,
    SystemDeps,
    StoreDeps,
    SetupDeps {}

/** `/internal/…`: the API of the dashboard and the command line. It is not versioned. */
export function registerAdmin(app: FastifyInstance, adminDeps: AdminDeps): void {
  const limits = new SignInLimits(adminDeps.clock);
  const deps = { ...adminDeps, limits, uploadedBytes: new UploadedBytes(adminDeps.recordings) };
  const handlers: Handlers = {
    ...setupHandlers(deps),
    ...signInHandlers(deps),
    ...operatorHandlers(deps),
    ...auditHandlers(deps),
    ...environmentHandlers(deps),
    ...apiKeyHandlers(deps),
    ...webhookEndpointHandlers(deps),
    ...deliveryHandlers(deps),
    ...transcriptionHandlers(deps),
    ...videoHandlers(deps),
    ...videoStreamHandlers(app, deps),
    ...videoDetailHandlers(deps),
    ...videoFileHandlers(deps),
    ...correctionHandlers(deps),
    ...bulkOperationHandlers(deps),
    ...searchHandlers(deps),
    ...systemHandlers(deps),
    ...storeHandlers(deps),
  };
  app.register(async (admin) => {
    admin.setValidatorCompiler(validateRequest);
    for (const key of Object.keys(ADMIN_OPERATIONS) as OperationKey[]) {
      admin.route(routeOf(key, handlers[key] as Handle, deps));
    }
  });
}

type Handle = (call: Call<OperationKey>) => Promise<unknown>;

function routeOf(
  key: OperationKey,
  handle: Handle,
  deps: AccessOptions & { limits: SignInLimits },
): RouteOptions {
  const { query, body, maxBodyBytes, status, response, isGuessable, noHead, ...operation } = operationOf(key);
  const [method, path] = key.split(" ") as [string, string];
  const rule = ruleOf(path, operation);
  const actors = new WeakMap<FastifyRequest, Actor | null>();
  return {
    method,
    url: `/internal${path}`,
    schema: { ...(query && { querystring: query }), ...(body && { body }) },
    ...(maxBodyBytes !== undefined && { bodyLimit: maxBodyBytes }),
    exposeHeadRoute: method === "GET" && !noHead,
    onRequest: async (request, reply) => {
      reply.header("cache-control", "no-store");
      rejectOtherOrigins(request, deps.operators.origin);
      if (isGuessable) deps.limits.countAddress(request);
      if (Object.values(request.params as Record<string, string>).some((value) => value.includes("\0"))) {
        throw new AppError("invalid_request", "The URL must not contain the character U+0000.");
      }
      const actor = await authorize(rule, request, deps);
      if (actor !== null && actor !== "command line") {
        for (const cookie of actor.setCookies) reply.header("set-cookie", cookie);
      }
      actors.set(request, actor);
    },
    handler: async (request, reply) => {
      const actor = actors.get(request)!;
      const { params, query, body } = request;
      const isAuthorized = async () =>
        await authorize(rule, request, deps).then(
          () => true,
          () => false,
        );
      const auditActor = auditActorOf(actor, request);
      const call = { params, query, body, actor, auditActor, request, reply, isAuthorized };
      // TypeScript cannot relate the call to the operation. The schemas above have validated it.
      const result = await handle(call as never);
      return response === RAW ? result : await reply.code(status ?? 200).send(result);
    },
  };
}

function ruleOf(path: string, { callers, roleIn }: Pick<Operation, "callers" | "roleIn">): Rule {
  return { callers, scope: typeof callers === "string" ? "any environment" : scopeOf(path, roleIn) };
}

function operationOf(key: OperationKey): Operation {
  return ADMIN_OPERATIONS[key];
}
