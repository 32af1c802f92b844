import { createHash, randomBytes } from "node:crypto";

/** A secret that the service hands out once and recognizes later by its hash. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** What the database stores of a token. Tokens are random, so a fast hash without a salt is enough. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
