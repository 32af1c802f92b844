import type { Permission } from "@subtext/client/contract/permission";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { requirePermission } from "../api-keys/authorize.ts";
import { findKeysWithVideos, type KeyAndVideoIds } from "../api-keys/key-and-video-queries.ts";
import { findApiKeys } from "../api-keys/queries.ts";
import type { TokenLimits } from "../api-keys/token-limits.ts";
import { validateRequest } from "../http/validate.ts";
import { createBatcher } from "../lib/batcher.ts";
import { isPlausibleId } from "../lib/ids.ts";
import type { Queue } from "../queue/queue.ts";
import { registerUploads } from "../uploads/tus-endpoint.ts";
import type { EndpointPolicy } from "../webhooks/guard-url.ts";
import { registerDocs } from "./docs.ts";
import { registerTranscription } from "./transcription.ts";
import { registerVideos, type VideosDeps } from "./videos.ts";
import { registerWebhookEndpoints } from "./webhook-endpoints.ts";

export interface PublicDeps extends Omit<VideosDeps, "authorize" | "authorizeVideo"> {
  queue: Queue;
  limits: TokenLimits;
  policy: EndpointPolicy;
  version: string;
}

/** Registers the public API, `/api/v1/…`, and its documentation. */
export async function registerPublic(app: FastifyInstance, publicDeps: PublicDeps): Promise<void> {
  const { db, clock, limits } = publicDeps;
  // Concurrent requests read their keys in one query. Keys are not cached.
  const batching = { maxConcurrency: 2, maxBatchSize: 100 };
  const findKey = createBatcher((ids: readonly string[]) => findApiKeys(db, ids), batching);
  const findWithVideo = createBatcher(
    (requests: readonly KeyAndVideoIds[]) => findKeysWithVideos(db, requests),
    batching,
  );
  const keys = { db, clock, limits, findKey };
  const keysWithVideos = {
    ...keys,
    findKey(keyId: string, { params }: FastifyRequest) {
      const { videoId } = params as { videoId: string };
      return findWithVideo({ keyId, videoId: isPlausibleId(videoId) ? videoId : null });
    },
  };
  const authorize = (permission: Permission) => requirePermission(keys, permission);
  const authorizeVideo = (permission: Permission) => requirePermission(keysWithVideos, permission);
  const deps = { ...publicDeps, authorize, authorizeVideo };

  await app.register(async (api) => {
    api.setValidatorCompiler(validateRequest);
    // Rejects plain text, which Fastify accepts by default.
    api.removeContentTypeParser("text/plain");
    registerVideos(api, deps);
    registerTranscription(api, deps);
    registerWebhookEndpoints(api, deps);
  });
  await registerUploads(app, {
    ...deps,
    authorize: requirePermission(keys, "create_video", { counted: false }),
  });
  registerDocs(app, deps);
}
