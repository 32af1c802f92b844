import { findApiKey } from "../api-keys/queries.ts";
import type { Db } from "../db/schema.ts";
import { findEnvironment } from "../environments/queries.ts";
import { AppError } from "../lib/errors.ts";
import { findTranscription } from "../transcription/queries.ts";
import { findVideo } from "../videos/queries.ts";
import { findWebhookEndpoint } from "../webhooks/endpoint-queries.ts";
import type { Operation } from "./contract/operation.ts";

/** Where an operator needs one of the roles that an operation allows. */
export type Scope = NonNullable<Operation["roleIn"]> | EnvironmentScope;

/** How to find the environment that a request's path identifies, directly or through a resource in it. */
interface EnvironmentScope {
  param: string;
  findEnvironmentId(db: Db, value: string): Promise<string | undefined>;
  /** The error for an unknown value. An operator without a role in the environment gets the same error. */
  notFound(value: string): AppError;
}

/** Keyed by path prefix. */
const ENVIRONMENT_SCOPES: Record<string, EnvironmentScope> = {
  "/environments/:environment": {
    param: "environment",
    findEnvironmentId: async (db, idOrName) => (await findEnvironment(db, idOrName))?.id,
    notFound: (idOrName) => new AppError("environment_not_found", `There is no environment ${idOrName}.`),
  },
  "/api-keys/:id": {
    param: "id",
    findEnvironmentId: async (db, id) => (await findApiKey(db, id))?.environment_id,
    notFound: () => new AppError("api_key_not_found", "There is no API key with this ID."),
  },
  "/webhook-endpoints/:id": {
    param: "id",
    findEnvironmentId: async (db, id) => (await findWebhookEndpoint(db, id))?.environment_id,
    notFound: () => new AppError("webhook_endpoint_not_found", "There is no webhook endpoint with this ID."),
  },
  "/transcriptions/:id": {
    param: "id",
    findEnvironmentId: async (db, id) =>
      (await findTranscription(db, id))?.environment_id ?? (await findVideo(db, id))?.environment_id,
    notFound: () =>
      new AppError("transcription_not_found", "There is no transcription or video with this ID."),
  },
};

/**
 * Returns the scope of an operation that requires a role.
 * @param path below `/internal`, for example `/api-keys/:id`
 * @throws Error if the operation has no scope or two
 */
export function scopeOf(path: string, roleIn: Operation["roleIn"]): Scope {
  const start = Object.keys(ENVIRONMENT_SCOPES).find((each) => `${path}/`.startsWith(`${each}/`));
  const scope = start === undefined ? roleIn : ENVIRONMENT_SCOPES[start];
  if (!scope || (start !== undefined && roleIn)) {
    throw new Error(
      `${path} needs either \`roleIn\` or a path that identifies an environment or a resource in one.`,
    );
  }
  return scope;
}
