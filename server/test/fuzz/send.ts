import { type Agent, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import type { FuzzRequest, Reference } from "./requests.ts";
import type { FuzzTenant } from "./tenants.ts";

export interface HttpResponse {
  status: number;
  headers: IncomingMessage["headers"];
  body: string;
  elapsedMs: number;
}

export interface HttpRequest {
  method: string;
  target: string;
  headers: [string, string][];
  body: Uint8Array | null;
}

export interface Tenants {
  /** Send requests. */
  active: [FuzzTenant, FuzzTenant];
  /** Sends no requests, but requests of other tenants contain its ids. */
  passive: FuzzTenant;
}

const POOL_BY_PARAMETER = {
  videoId: "video",
  uploadId: "video",
  endpointId: "endpoint",
  deliveryId: "delivery",
} as const;
/** Only the newest resources are referenced, because older ones are probably deleted. */
const NEWEST = 12;

/** Fills in the ids that are known when the request is sent. */
export function buildRequest(fuzzed: FuzzRequest, tenants: Tenants): HttpRequest {
  const sender = tenants.active[fuzzed.sender];
  const signedUrls = fuzzed.operationId === "getFile" ? sender.pool.file : sender.pool.upload;
  const [signedPath = "", signedQuery = ""] = (pick(signedUrls, fuzzed.query.length) ?? "").split("?");
  const delivery = findDelivery(fuzzed, tenants);
  let path = fuzzed.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const reference = fuzzed.ids[name] ?? { owner: "nobody", text: "" };
    if (delivery && name in delivery) return delivery[name as keyof typeof delivery];
    if (name === "key") return findFileKey(reference, tenants, fuzzed.sender);
    const pool = POOL_BY_PARAMETER[name as keyof typeof POOL_BY_PARAMETER];
    return findId(reference, pool, tenants, fuzzed.sender);
  });
  // Either the sender's own signed URL, or its signature with another tenant's path.
  const isOwnUrl = Object.values(fuzzed.ids).every((reference) => reference.owner === "sender");
  const usesSignature = isSigned(fuzzed);
  if (usesSignature && isOwnUrl && signedPath !== "") path = signedPath;
  if (fuzzed.pathSuffix !== null) path += fuzzed.pathSuffix;
  const query = fuzzed.query.map(([name, value]) => `${encode(name)}=${encode(value)}`);
  if (usesSignature) query.unshift(signedQuery);
  const key = sender.keys[fuzzed.key];
  const headers: [string, string][] = [["Host", "localhost"]];
  if (key !== null) headers.push(["Authorization", `Bearer ${key}`]);
  for (const [name, value] of fuzzed.headers)
    headers.push([name, value.replaceAll(/[^\t\x20-\x7e\xa0-\xff]/g, "?")]);
  if (fuzzed.body) headers.push(["Content-Length", String(fuzzed.body.length)]);
  return {
    method: fuzzed.method,
    target: query.length > 0 ? `${path}?${query.join("&")}` : path,
    headers,
    body: fuzzed.body,
  };
}

/** Returns whether the request has a signature from an earlier response. */
export function isSigned({ signed, path }: FuzzRequest): boolean {
  return signed && (path.startsWith("/api/v1/uploads/") || path.startsWith("/files/"));
}

function pick(list: string[], number: number): string | undefined {
  return list.slice(-NEWEST).at(-1 - (number % Math.min(NEWEST, list.length || 1)));
}

function findOwner(reference: Reference, { active, passive }: Tenants, sender: 0 | 1): FuzzTenant | null {
  switch (reference.owner) {
    case "sender":
      return active[sender];
    case "other":
      return active[sender === 0 ? 1 : 0];
    case "passive":
      return passive;
    case "nobody":
      return null;
  }
}

function findId(
  reference: Reference,
  kind: "video" | "endpoint" | "delivery",
  tenants: Tenants,
  sender: 0 | 1,
): string {
  if (reference.owner === "nobody") return encode(reference.text);
  return pick(findOwner(reference, tenants, sender)!.pool[kind], reference.number) ?? "none";
}

/** Usually pairs a delivery with its own endpoint if both belong to the sender, because random pairs rarely match. */
function findDelivery({ ids, sender }: FuzzRequest, { active }: Tenants) {
  const { endpointId, deliveryId } = ids;
  if (endpointId?.owner !== "sender" || deliveryId?.owner !== "sender") return null;
  const { pool } = active[sender];
  const delivery = pick(pool.delivery, deliveryId.number);
  const endpoint = delivery && pool.endpointByDelivery.get(delivery);
  return endpoint && endpointId.number % 4 > 0 ? { endpointId: endpoint, deliveryId: delivery } : null;
}

function findFileKey(reference: Reference, tenants: Tenants, sender: 0 | 1): string {
  if (reference.owner === "nobody") return encode(reference.text);
  const url = pick(findOwner(reference, tenants, sender)!.pool.file, reference.number) ?? "/files/none";
  return url.replace(/^\/files\/|\?.*$/g, "");
}

/** Percent-encodes only characters that are not allowed in a request line. */
function encode(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^!-~]|[?#&]/gu, (character) =>
      [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
    );
}

/** Sends the request unchanged. Returns null if the connection closes before a response. */
export async function send(
  port: number,
  agent: Agent,
  { method, target, headers, body }: HttpRequest,
): Promise<HttpResponse | null> {
  const startedAt = performance.now();
  return await new Promise((resolve) => {
    const sent = request({ host: "127.0.0.1", port, agent, method, path: target, headers: headers.flat() });
    sent.on("error", () => resolve(null));
    sent.on("response", (response) => {
      buffer(response).then(
        (bytes) =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: bytes.toString(),
            elapsedMs: performance.now() - startedAt,
          }),
        () => resolve(null),
      );
    });
    sent.end(body ?? undefined);
  });
}
