import type { OperationTable } from "./operation.ts";
import { ENVIRONMENT_OPERATIONS } from "./operations/environments.ts";
import { OPERATOR_OPERATIONS } from "./operations/operators.ts";
import { SYSTEM_OPERATIONS } from "./operations/system.ts";
import { VIDEO_OPERATIONS } from "./operations/videos.ts";
import { WEBHOOK_OPERATIONS } from "./operations/webhooks.ts";

/**
 * The operations of the admin API that the dashboard may call. The routes, their authorization tests and the types of
 * the dashboard's client are derived from this table. `:environment` is an id or a name. The dashboard imports only the
 * type, so that its bundle contains no schemas.
 */
export const OPERATIONS = {
  ...OPERATOR_OPERATIONS,
  ...ENVIRONMENT_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...VIDEO_OPERATIONS,
  ...SYSTEM_OPERATIONS,
} as const satisfies OperationTable;

export type Operations = typeof OPERATIONS;
