import { createHmac, timingSafeEqual } from "node:crypto";

interface UploadUrlClaims {
  videoId: string;
  /** Unix seconds. The upload must start before this time. */
  expires: number;
}

/** Returns `expires=…&signature=…`, to be appended to the upload's path after `?`. */
export function signUploadUrl(claims: UploadUrlClaims, secret: Uint8Array): string {
  return `expires=${claims.expires}&signature=${signatureOf(claims, secret)}`;
}

/** Checks whether a query contains a signature. Without one, the request needs a key. */
export function isSigned(query: URLSearchParams): boolean {
  return query.has("signature");
}

/**
 * Reads the claims for the upload of this video from a query. Returns null if the signature does not match. Does not
 * check the expiry. Ignores unsigned parameters, which clients may add.
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

/** HMAC-SHA256 in base64url. The first element separates this use of the secret from all others. */
function signatureOf({ videoId, expires }: UploadUrlClaims, secret: Uint8Array): string {
  const signed = JSON.stringify(["subtext upload url 1", videoId, expires]);
  return createHmac("sha256", secret).update(signed).digest("base64url");
}
