import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";

/** Describes what a file URL grants. The URL contains these fields and their signature. */
export interface FileUrlClaims {
  key: string;
  /** Unix seconds, as in the URL. The URL is invalid from this second on. */
  expires: string;
  fileName: string;
  /** Media type without parameters. */
  contentType: string;
}

/**
 * Returns the HMAC-SHA256 of the claims in base64url. Signs a JSON array, so that different claims are never serialized
 * to the same string. The first element prevents signatures for other purposes from being valid here.
 *
 * @param secret reuse it, because creating a key object takes ten times as long as signing
 */
export function signFileUrl(claims: FileUrlClaims, secret: KeyObject): string {
  const { key, expires, fileName, contentType } = claims;
  const signed = JSON.stringify(["subtext file url 1", key, expires, fileName, contentType]);
  return createHmac("sha256", secret).update(signed).digest("base64url");
}

/** Returns `key?expires=…&name=…&type=…&signature=…`, the part of the URL after `/files/`. */
export function formatFileUrl(claims: FileUrlClaims, secret: KeyObject): string {
  const query = new URLSearchParams({
    expires: claims.expires,
    name: claims.fileName,
    type: claims.contentType,
    signature: signFileUrl(claims, secret),
  });
  return `${claims.key}?${query}`;
}

/**
 * Returns the claims of a URL that this service signed, or null if the URL was changed in any way. Does not check the
 * expiry.
 *
 * @param key the path after `/files/`, not decoded, because keys contain nothing that URLs encode
 * @param query the text after `?`
 */
export function parseFileUrl(key: string, query: string, secret: KeyObject): FileUrlClaims | null {
  const parameters = new URLSearchParams(query);
  const one = (name: string) => (parameters.getAll(name).length === 1 ? parameters.get(name) : null);
  const expires = one("expires");
  const fileName = one("name");
  const contentType = one("type");
  const signature = one("signature");
  if (expires === null || fileName === null || contentType === null || signature === null) return null;
  if (parameters.size !== 4) return null;
  const claims: FileUrlClaims = { key, expires, fileName, contentType };
  return equalInConstantTime(signature, signFileUrl(claims, secret)) ? claims : null;
}

/** Compares the encoded strings, because different base64url strings can decode to the same bytes. */
function equalInConstantTime(actual: string, expected: string): boolean {
  const givenBytes = Buffer.from(actual);
  const expectedBytes = Buffer.from(expected);
  return givenBytes.length === expectedBytes.length && timingSafeEqual(givenBytes, expectedBytes);
}
