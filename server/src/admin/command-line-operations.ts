import { Type } from "typebox";
import type { BackupView } from "../backup/backups.ts";
import type { DeletionReview } from "../cleanup/review-deletions.ts";
import type { EffectiveSetting } from "../config/settings-reader.ts";
import type { Credentials } from "../operators/operators.ts";
import { json, type OperationTable } from "./contract/operation.ts";
import { strict } from "./contract/operations/schema-options.ts";
import { OPERATIONS } from "./contract/operations.ts";

/** What accepting the store would delete. */
export interface StoreReview extends DeletionReview {
  /** Why deletions are stopped; null if the store belongs to this database. */
  stopped: string | null;
  /** Identifies the reviewed state of the store; null if the store has no mark. */
  token: string | null;
}

/** Operations of the admin API that only the command line on the service's machine may call. */
export const COMMAND_LINE_OPERATIONS = {
  // Like `POST /setup`, but needs no setup link and starts no session.
  "POST /owner": {
    callers: "command line",
    body: Type.Omit(OPERATIONS["POST /setup"].body, ["token"], strict),
    status: 201,
    response: json<void>(),
  },
  // Not available to sessions, because a stolen session could lock the owner out.
  "POST /operator/reset-password": {
    callers: "command line",
    body: Type.Object({ email: Type.Optional(Type.String({ maxLength: 300 })) }, strict),
    response: json<Credentials>(),
  },
  // Not available to sessions, because settings contain internal paths and addresses.
  "GET /settings": { callers: "command line", response: json<{ data: EffectiveSetting[] }>() },
  // Not available to sessions, because a backup contains every secret and the caller chooses its folder.
  "POST /backup": {
    callers: "command line",
    body: Type.Object(
      { folder: Type.String({ minLength: 1, maxLength: 4096, pattern: "^[^\\u0000]*$" }) },
      strict,
    ),
    status: 202,
    response: json<BackupView>(),
  },
  "GET /backup": { callers: "command line", response: json<{ backup: BackupView | null }>() },
  "DELETE /backup": { callers: "command line", status: 204, response: json<void>() },
  "POST /storage-review": { callers: "command line", response: json<StoreReview>() },
  "POST /storage-acceptance": {
    callers: "command line",
    body: Type.Object({ token: Type.Union([Type.String({ maxLength: 200 }), Type.Null()]) }, strict),
    status: 204,
    response: json<void>(),
  },
} as const satisfies OperationTable;
