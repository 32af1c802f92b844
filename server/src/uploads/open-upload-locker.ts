import type { Locker } from "@tus/utils";
import type { DatabaseSession } from "../db/session.ts";
import { createSharedUploadLocker } from "./shared-upload-locker.ts";
import { createUploadLocker } from "./upload-locker.ts";

/** A writer releases its upload to the next one well before this timeout. */
const TIMEOUT_MS = 10_000;

/** @param session null if this is the only process */
export function openUploadLocker(session: DatabaseSession | null, timeoutMs = TIMEOUT_MS): Locker {
  const local = createUploadLocker({ timeoutMs });
  return session ? createSharedUploadLocker({ local, session, timeoutMs }) : local;
}
