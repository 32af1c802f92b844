import { PERMISSIONS } from "@subtext/client/contract/permission";
import { FILE_FORMATS } from "@subtext/client/contract/transcription";
import { sql } from "kysely";
import { createApiKey } from "../../src/api-keys/api-keys.ts";
import type { Db } from "../../src/db/schema.ts";
import { createEnvironment } from "../../src/environments/environments.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { fileKey, filePrefix } from "../../src/storage/transcript-files.ts";
import type { TranscriptStore } from "../../src/storage/transcript-store.ts";
import type { KeyKind } from "./requests.ts";

export interface FuzzService {
  url: string;
  transcripts: TranscriptStore;
  db: Db;
}

/** Ids and URLs from responses to a tenant. */
export interface Pool {
  video: string[];
  endpoint: string[];
  delivery: string[];
  endpointByDelivery: Map<string, string>;
  /** Path and query of signed URLs. */
  upload: string[];
  file: string[];
}

export interface FuzzTenant {
  environmentId: string;
  /** Part of all data that the tenant initially has, and of no request. */
  marker: string;
  keys: Record<KeyKind, string | null>;
  pool: Pool;
}

/** Creates a tenant with resources of all kinds. */
export async function makeFuzzTenant(service: FuzzService, name: string): Promise<FuzzTenant> {
  const { db, url } = service;
  const deps = { db, clock: systemClock };
  const environment = await createEnvironment(deps, { name, aiTranscription: true });
  const keyFor = async (permissions: readonly (typeof PERMISSIONS)[number][]) => {
    const options = { environmentId: environment.id, name: "fuzz", permissions: [...permissions] };
    return await createApiKey(deps, { ...options, expiresAt: null });
  };
  const all = await keyFor(PERMISSIONS);
  const expired = await keyFor(PERMISSIONS);
  const revoked = await keyFor(PERMISSIONS);
  const past = new Date(Date.now() - 1000);
  await db.updateTable("api_key").set({ expires_at: past }).where("id", "=", expired.id).execute();
  await db.updateTable("api_key").set({ revoked_at: past }).where("id", "=", revoked.id).execute();
  const single = await Promise.all(
    PERMISSIONS.map(async (permission) => [permission, (await keyFor([permission])).key]),
  );
  const tenant: FuzzTenant = {
    environmentId: environment.id,
    marker: `marker-${environment.id}`,
    keys: {
      ...(Object.fromEntries(single) as Record<(typeof PERMISSIONS)[number], string>),
      all: all.key,
      expired: expired.key,
      revoked: revoked.key,
      broken: `${all.key.slice(0, -1)}~`,
      missing: null,
    },
    pool: { video: [], endpoint: [], delivery: [], endpointByDelivery: new Map(), upload: [], file: [] },
  };
  const sendRequest = async (method: string, path: string, body?: object) => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${all.key}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    collectIds(tenant.pool, text);
    return JSON.parse(text) as { id: string; video: { id: string }; upload: { url: string } };
  };
  for (const bytes of [0, 3, 10, 10, 10, 10]) {
    const { upload } = await sendRequest("POST", "/api/v1/videos", {
      sizeBytes: 10,
      metadata: { marker: tenant.marker },
    });
    if (bytes > 0) await sendBytes(upload.url, bytes);
  }
  await completeTranscriptions(service, tenant);
  for (const path of ["a", "b", "c"]) {
    const { id } = await sendRequest("POST", "/api/v1/webhook-endpoints", {
      url: `https://${tenant.marker.replaceAll("_", "-")}.example/${path}`,
      metadata: { marker: tenant.marker },
    });
    await sendRequest("POST", `/api/v1/webhook-endpoints/${id}/test`);
  }
  for (const video of tenant.pool.video.slice(-2))
    await sendRequest("GET", `/api/v1/videos/${video}/transcription`);
  return tenant;
}

async function sendBytes(uploadUrl: string, bytes: number): Promise<void> {
  await fetch(uploadUrl, {
    method: "PATCH",
    headers: {
      "tus-resumable": "1.0.0",
      "upload-offset": "0",
      "content-type": "application/offset+octet-stream",
    },
    body: Buffer.alloc(bytes),
  });
}

/** Stores transcripts without running an engine. */
async function completeTranscriptions(
  { db, transcripts }: FuzzService,
  { environmentId, marker }: FuzzTenant,
): Promise<void> {
  const rows = await db
    .selectFrom("transcription")
    .select("id")
    .where("environment_id", "=", environmentId)
    .execute();
  for (const { id } of rows) {
    const prefix = filePrefix(id, 1);
    const files = { vtt: marker, json: JSON.stringify([{ word: marker, start: 0, end: 1 }]), txt: marker };
    for (const format of FILE_FORMATS) {
      await transcripts.put(fileKey(prefix, format), Buffer.from(files[format]));
    }
    await db
      .updateTable("transcription")
      .set({
        status: "COMPLETED",
        attempt: 1,
        file_prefix: prefix,
        language: "en",
        word_count: 1,
        duration: 1,
        finished_at: new Date(),
      })
      .where("id", "=", id)
      .execute();
  }
}

const DELIVERIES = /"id":"(delivery_[0-9a-z]{26})","webhookEndpointId":"(endpoint_[0-9a-z]{26})"/g;
const IDS = /\b(video|endpoint|delivery)_[0-9a-z]{26}\b/g;

/** Collects ids and URLs from a response for use in later requests. */
export function collectIds(pool: Pool, body: string): void {
  const add = (list: string[], text: string) => {
    if (!list.includes(text)) list.push(text);
  };
  for (const [id, kind] of body.matchAll(IDS)) add(pool[kind as "video" | "endpoint" | "delivery"], id);
  for (const [, delivery = "", endpoint = ""] of body.matchAll(DELIVERIES))
    pool.endpointByDelivery.set(delivery, endpoint);
  for (const [, url] of body.matchAll(/"url":"http:\/\/[^/"]+(\/[^"]+)"/g)) {
    if (url!.startsWith("/api/v1/uploads/")) add(pool.upload, url!);
    if (url!.startsWith("/files/")) add(pool.file, url!);
  }
}

const TABLES = ["video", "transcription", "event", "webhook_endpoint", "idempotency_key"] as const;

/** Returns the rows of a tenant as text. */
export async function readRows(db: Db, { environmentId }: FuzzTenant): Promise<string[]> {
  const found: string[] = [];
  for (const table of TABLES) {
    const { rows } = await sql<{ row: string }>`
      select to_jsonb(t)::text as row from ${sql.table(table)} as t
      where environment_id = ${environmentId} order by 1`.execute(db);
    found.push(...rows.map(({ row }) => `${table} ${row}`));
  }
  const { rows } = await sql<{ row: string }>`
    select to_jsonb(d)::text as row from delivery as d
    join webhook_endpoint as e on e.id = d.endpoint_id
    where e.environment_id = ${environmentId} order by 1`.execute(db);
  return [...found, ...rows.map(({ row }) => `delivery ${row}`)];
}
