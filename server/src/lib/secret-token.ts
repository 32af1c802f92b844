import { createHash, randomBytes } from "node:crypto";

/** Creates a secret that is shown once; only its hash is stored. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Tokens are random, so a fast hash without a salt is enough. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
