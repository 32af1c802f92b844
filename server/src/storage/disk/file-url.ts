import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";

/** What a file URL promises; all of it travels in the URL and all of it is signed. */
export interface FileUrlClaims {
  key: string;
  /** Unix seconds, decimal digits, as it stands in the URL. From this second on the URL is worth nothing. */
  expires: string;
  fileName: string;
  /** Without parameters. */
  contentType: string;
}

/**
 * HMAC-SHA256 in base64url. What is signed is a JSON array, so that no two different sets of claims
 * give the same text; the first element keeps the secret apart from any other use of it.
 *
 * @param secret a key object, made once: to make one takes ten times as long as to sign
 */
export function signFileUrl(claims: FileUrlClaims, secret: KeyObject): string {
  const { key, expires, fileName, contentType } = claims;
  const signed = JSON.stringify(["subtext file url 1", key, expires, fileName, contentType]);
  return createHmac("sha256", secret).update(signed).digest("base64url");
}

/** `key?expires=…&name=…&type=…&signature=…`, to be put behind `…/files/`. */
export function writeFileUrl(claims: FileUrlClaims, secret: KeyObject): string {
  const query = new URLSearchParams({
    expires: claims.expires,
    name: claims.fileName,
    type: claims.contentType,
    signature: signFileUrl(claims, secret),
  });
  return `${claims.key}?${query}`;
}

/**
 * The claims of a URL that this service signed, still to be judged by their expiry; null where anything
 * was altered, added, left out or written in another way.
 *
 * @param key the path behind `/files/`, not decoded: keys hold nothing that needs encoding
 * @param query what stands behind `?`
 */
export function readFileUrl(key: string, query: string, secret: KeyObject): FileUrlClaims | null {
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

/** Compares the texts, not what they decode to: base64url has several spellings of the same bytes. */
function equalInConstantTime(given: string, expected: string): boolean {
  const givenBytes = Buffer.from(given);
  const expectedBytes = Buffer.from(expected);
  return givenBytes.length === expectedBytes.length && timingSafeEqual(givenBytes, expectedBytes);
}
