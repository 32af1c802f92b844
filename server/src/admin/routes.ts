import type { FastifyInstance } from "fastify";
import type { Db } from "../db/schema.ts";
import { validateRequest } from "../http/validate.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import type { Operators } from "../operators/operators.ts";
import type { Queue } from "../queue/queue.ts";
import type { EndpointPolicy } from "../webhooks/guard-url.ts";
import { type Actor, refuseOtherOrigins, requireOperator, requireRole } from "./access.ts";
import { registerApiKeys } from "./api-keys.ts";
import { registerAudit } from "./audit.ts";
import { type BackupRouteDeps, registerBackups } from "./backups.ts";
import { type DeliveryDeps, registerDeliveries } from "./deliveries.ts";
import { registerEnvironments } from "./environments.ts";
import { registerOperators } from "./operators.ts";
import { registerSearch } from "./search.ts";
import { registerSessions } from "./sessions.ts";
import { registerSetUp } from "./setup.ts";
import { registerSignIn } from "./sign-in.ts";
import { Attempts } from "./sign-in-limits.ts";
import { registerStorage, type StorageRouteDeps } from "./storage.ts";
import { registerSystem, type SystemRouteDeps } from "./system.ts";
import { registerTranscriptions } from "./transcriptions.ts";
import { registerUploadOffers, type UploadOfferDeps } from "./upload-offers.ts";
import { UploadSizes } from "./uploaded-bytes.ts";
import { registerVideoDetail, type VideoDetailDeps } from "./video-detail.ts";
import { registerVideoMedia } from "./video-media.ts";
import { registerVideoStream } from "./video-stream.ts";
import { registerVideoTranscript } from "./video-transcript.ts";
import { registerVideos, type VideoListDeps } from "./videos.ts";
import { registerWebhookEndpoints } from "./webhook-endpoints.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Of requests to `/internal/…`, once they are let in. */
    actor: Actor;
  }
}

export interface InternalDeps
  extends DeliveryDeps,
    UploadOfferDeps,
    Omit<VideoDetailDeps, keyof VideoListDeps>,
    SystemRouteDeps,
    StorageRouteDeps,
    BackupRouteDeps {
  db: Db;
  queue: Queue;
  clock: Clock;
  operators: Operators;
  commandLineToken: string;
  policy: EndpointPolicy;
}

/** `/internal/…`: what operators do, from the dashboard or the command line. No promise is made to others. */
export function registerInternal(app: FastifyInstance, parts: InternalDeps): void {
  const deps = { ...parts, uploadSizes: new UploadSizes(parts.sources) };
  const { operators, commandLineToken } = deps;
  const attempts = new Attempts(deps.clock);
  registerSignIn(app, { ...deps, attempts });
  registerSessions(app, deps);
  registerSetUp(app, { ...deps, attempts });
  app.register(
    async (internal) => {
      internal.setValidatorCompiler(validateRequest);
      internal.decorateRequest("actor");
      internal.addHook("onRequest", async (request, reply) => {
        reply.header("cache-control", "no-store");
        refuseOtherOrigins(request, operators.origin);
        request.actor = await requireOperator(request, reply, { operators, commandLineToken });
        requireRole(request.actor, request);
      });
      internal.addHook("preValidation", async ({ params }) => {
        // PostgreSQL can not even be asked for it.
        if (Object.values(params as Record<string, string>).some((value) => value.includes("\0"))) {
          throw new AppError("invalid_request", "The address may not hold the character U+0000.");
        }
      });
      registerEnvironments(internal, deps);
      registerApiKeys(internal, deps);
      registerWebhookEndpoints(internal, deps);
      registerDeliveries(internal, deps);
      registerTranscriptions(internal, deps);
      registerOperators(internal, deps);
      registerAudit(internal, deps);
      registerVideos(internal, deps);
      registerVideoStream(internal, deps);
      registerVideoDetail(internal, deps);
      registerVideoTranscript(internal, deps);
      registerVideoMedia(internal, deps);
      registerUploadOffers(internal, deps);
      registerSearch(internal, deps);
      registerSystem(internal, deps);
      registerBackups(internal, deps);
      registerStorage(internal, deps);
    },
    { prefix: "/internal" },
  );
}
