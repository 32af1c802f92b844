import { type Agent, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import type { FuzzRequest, Reference } from "./requests.ts";
import type { FuzzTenant } from "./world.ts";

export interface Answer {
  status: number;
  headers: IncomingMessage["headers"];
  body: string;
  elapsedMs: number;
}

/** A request as it is sent over the wire. */
export interface Concrete {
  method: string;
  target: string;
  headers: [string, string][];
  body: Uint8Array | null;
}

export interface Tenants {
  /** They send the requests. */
  askers: [FuzzTenant, FuzzTenant];
  /** Its things are requested, but it sends no requests. */
  bystander: FuzzTenant;
}

const POOL_OF = {
  videoId: "video",
  uploadId: "video",
  endpointId: "endpoint",
  deliveryId: "delivery",
} as const;
/** The newest things of a tenant are the most likely to still exist. */
const NEWEST = 12;

/** Fills in what is only known when the request is sent. */
export function makeConcrete(fuzzed: FuzzRequest, tenants: Tenants): Concrete {
  const asker = tenants.askers[fuzzed.asker];
  const signed = fuzzed.operationId === "getFile" ? asker.pool.file : asker.pool.upload;
  const [signedPath = "", signedQuery = ""] = (pick(signed, fuzzed.query.length) ?? "").split("?");
  const delivery = deliveryOf(fuzzed, tenants);
  let path = fuzzed.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const reference = fuzzed.ids[name] ?? { of: "nobody", text: "" };
    if (delivery && name in delivery) return delivery[name as keyof typeof delivery];
    if (name === "key") return fileKeyOf(reference, tenants, fuzzed.asker);
    return idOf(reference, POOL_OF[name as keyof typeof POOL_OF], tenants, fuzzed.asker);
  });
  // The asker's own URL unchanged, or its signature on another tenant's path.
  const ownAddress = Object.values(fuzzed.ids).every((reference) => reference.of === "asker");
  const uses = isSigned(fuzzed);
  if (uses && ownAddress && signedPath !== "") path = signedPath;
  if (fuzzed.pathTrick !== null) path += fuzzed.pathTrick;
  const query = fuzzed.query.map(([name, value]) => `${encode(name)}=${encode(value)}`);
  if (uses) query.unshift(signedQuery);
  const key = asker.keys[fuzzed.key];
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

/** Whether the request has a signature from a response of the service. */
export function isSigned({ signed, path }: FuzzRequest): boolean {
  return signed && (path.startsWith("/api/v1/uploads/") || path.startsWith("/files/"));
}

function pick(list: string[], number: number): string | undefined {
  return list.slice(-NEWEST).at(-1 - (number % Math.min(NEWEST, list.length || 1)));
}

function ownerOf(reference: Reference, { askers, bystander }: Tenants, asker: 0 | 1): FuzzTenant | null {
  switch (reference.of) {
    case "asker":
      return askers[asker];
    case "other":
      return askers[asker === 0 ? 1 : 0];
    case "bystander":
      return bystander;
    case "nobody":
      return null;
  }
}

function idOf(
  reference: Reference,
  kind: "video" | "endpoint" | "delivery",
  tenants: Tenants,
  asker: 0 | 1,
): string {
  if (reference.of === "nobody") return encode(reference.text);
  return pick(ownerOf(reference, tenants, asker)!.pool[kind], reference.number) ?? "none";
}

/** A delivery with its own endpoint if the request names both as the asker's, because random pairs rarely match. */
function deliveryOf({ ids, asker }: FuzzRequest, { askers }: Tenants) {
  const { endpointId, deliveryId } = ids;
  if (endpointId?.of !== "asker" || deliveryId?.of !== "asker") return null;
  const { pool } = askers[asker];
  const delivery = pick(pool.delivery, deliveryId.number);
  const endpoint = delivery && pool.endpointOf.get(delivery);
  return endpoint && endpointId.number % 4 > 0 ? { endpointId: endpoint, deliveryId: delivery } : null;
}

function fileKeyOf(reference: Reference, tenants: Tenants, asker: 0 | 1): string {
  if (reference.of === "nobody") return encode(reference.text);
  const address = pick(ownerOf(reference, tenants, asker)!.pool.file, reference.number) ?? "/files/none";
  return address.replace(/^\/files\/|\?.*$/g, "");
}

/** Percent-encodes whatever is not allowed in a request line, and leaves the rest unchanged. */
function encode(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^!-~]|[?#&]/gu, (character) =>
      [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
    );
}

/** Sends exactly these bytes; returns null if the connection was closed before a response. */
export async function send(port: number, agent: Agent, concrete: Concrete): Promise<Answer | null> {
  const { method, target, headers, body } = concrete;
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
