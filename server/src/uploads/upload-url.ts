import { createHmac, timingSafeEqual } from "node:crypto";

interface UploadUrlClaims {
  videoId: string;
  /** Unix seconds, from which on the upload can not be begun. */
  expires: number;
}

/** `expires=…&signature=…`, to be put behind the upload's address and `?`. */
export function signUploadUrl(claims: UploadUrlClaims, secret: Uint8Array): string {
  return `expires=${claims.expires}&signature=${signatureOf(claims, secret)}`;
}

/** Whether a query signs anything at all; where it does not, a key is asked for. */
export function isSigned(query: URLSearchParams): boolean {
  return query.has("signature");
}

/**
 * What a query grants for the upload of this video, still to be judged by its expiry; null where anything was
 * altered. Parameters that are not signed are nobody's business: clients may add their own.
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

/** HMAC-SHA256 in base64url; the first element keeps the secret apart from any other use of it. */
function signatureOf({ videoId, expires }: UploadUrlClaims, secret: Uint8Array): string {
  const signed = JSON.stringify(["subtext upload url 1", videoId, expires]);
  return createHmac("sha256", secret).update(signed).digest("base64url");
}
