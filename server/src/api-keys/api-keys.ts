import { createHash, randomInt, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Permission } from "@subtext/client/contract/permission";
import type { Db } from "../db/schema.ts";
import { requireRoomForKey } from "../environments/limits.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { KeyRow } from "./key-and-video-queries.ts";
import { insertApiKey } from "./queries.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 43; // 256 bits
const CHECKSUM_LENGTH = 6; // 32 bits
const KEY_PATTERN = new RegExp(
  `^subtext_([0-9a-z]{26})_([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);

export interface NewApiKeyRequest {
  environmentId: string;
  name: string;
  permissions: Permission[];
  expiresAt: Date | null;
}

/**
 * Creates an API key. Only its hash is stored, so the key cannot be shown again. Its format,
 * `subtext_<id>_<secret><checksum>`, is easy to recognize for people and secret scanners.
 * @throws AppError `api_key_limit_reached`
 */
export async function createApiKey(
  { db, clock }: { db: Db; clock: Clock },
  request: NewApiKeyRequest,
): Promise<{ id: string; key: string }> {
  await requireRoomForKey(db, request.environmentId, clock.now());
  const id = newId("key");
  const secret = Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  const unchecked = `${keyPrefix(id)}_${secret}`;
  const key = unchecked + checksum(unchecked);
  await insertApiKey(db, {
    id,
    environment_id: request.environmentId,
    name: request.name,
    key_hash: hash(key).toString("hex"),
    permissions: JSON.stringify(request.permissions),
    created_at: clock.now(),
    expires_at: request.expiresAt,
  });
  return { id, key };
}

/** Returns the part of a key that is not secret. */
export function keyPrefix(id: string): string {
  return `subtext_${id.slice("key_".length)}`;
}

export interface VerifyDeps<Key extends KeyRow> {
  /** Must not return a cached row, because the key may have been revoked in the meantime. */
  findKey(id: string): Promise<Key | undefined>;
  clock: Clock;
}

/** Returns the key's row; undefined if the key is malformed, unknown, revoked or expired. */
export async function verifyApiKey<Key extends KeyRow>(
  { findKey, clock }: VerifyDeps<Key>,
  key: string,
): Promise<Key | undefined> {
  const match = KEY_PATTERN.exec(key);
  if (!match) return undefined;
  if (checksum(key.slice(0, -CHECKSUM_LENGTH)) !== match[3]) return undefined;
  const row = await findKey(`key_${match[1]}`);
  if (!row || !timingSafeEqual(hash(key), Buffer.from(row.key_hash, "hex"))) return undefined;
  if (row.revoked_at || (row.expires_at && row.expires_at <= clock.now())) return undefined;
  return row;
}

function hash(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/** Returns a CRC-32 in base 62. It detects most mistyped keys without a database query. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET[rest % ALPHABET.length] + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
