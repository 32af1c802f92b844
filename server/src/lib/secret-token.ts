import { createHash, randomBytes } from "node:crypto";

/** Creates a secret that is shown only once. Store only its hash. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** A fast hash without a salt is enough, because tokens are random. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
