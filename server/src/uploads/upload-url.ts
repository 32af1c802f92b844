import { createHmac, timingSafeEqual } from "node:crypto";

interface UploadUrlClaims {
  videoId: string;
  /** Unix seconds before which the upload must start. */
  expires: number;
}

/** Returns `expires=…&signature=…`, the query of the upload's URL. */
export function signUploadUrl(claims: UploadUrlClaims, secret: Uint8Array): string {
  return `expires=${claims.expires}&signature=${signatureOf(claims, secret)}`;
}

/** Checks whether a request has a signature instead of a key. */
export function isSigned(query: URLSearchParams): boolean {
  return query.has("signature");
}

/**
 * Returns the claims of a signed upload URL, or null if the signature does not match. Does not check the expiry.
 * Ignores other parameters, which clients may add.
 */
export function readUploadUrl(
  videoId: string,
  query: URLSearchParams,
  secret: Uint8Array,
): UploadUrlClaims | null {
  const expires = query.get("expires") ?? "";
  if (!/^[1-9]\d{0,11}$/.test(expires)) return null;
  const claims = { videoId, expires: Number(expires) };
  const given = Buffer.from(query.get("signature") ?? "");
  const expected = Buffer.from(signatureOf(claims, secret));
  return given.length === expected.length && timingSafeEqual(given, expected) ? claims : null;
}

/**
 * Returns the HMAC-SHA256 in base64url. The first element prevents signatures for other purposes from being valid here.
 */
function signatureOf({ videoId, expires }: UploadUrlClaims, secret: Uint8Array): string {
  const signed = JSON.stringify(["subtext upload url 1", videoId, expires]);
  return createHmac("sha256", secret).update(signed).digest("base64url");
}
