import { once } from "node:events";
import { rename, rm, symlink } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { ApiErrorCode } from "@subtext/client/contract/api-errors";
import { acceptsIdempotencyKey, type Operation } from "@subtext/client/contract/operation";
import { OPERATIONS } from "@subtext/client/contract/operations";
import { PERMISSIONS } from "@subtext/client/contract/permission";
import { type RawBuilder, sql } from "kysely";
import { MAX_OPEN_UPLOADS, MAX_WEBHOOK_ENDPOINTS } from "../../src/environments/limits.ts";
import { AppError } from "../../src/lib/errors.ts";
import { newId } from "../../src/lib/ids.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { seedTranscript } from "../support/seed-transcript.ts";
import {
  createTenant,
  type MovableClock,
  type Tenant,
  type TestService,
  upload,
} from "../support/service.ts";

const KIB = 1024;
/** More than any disk has, and less than the upload limit in these tests. */
const ENDLESS = String(2 ** 51);

/** What a provocation changes in a request that would succeed. */
export interface Change {
  path?: string;
  headers?: Record<string, string | null>;
  body?: string | Uint8Array;
}

export interface World {
  service: TestService;
  clock: MovableClock;
  tenant: Tenant;
  /** An upload with 0 of 10 bytes. */
  openUpload: string;
  /** An uploaded video with a waiting transcription; the upload above has none. */
  video: string;
  /** A video with a completed transcription. */
  completed: string;
  endpoint: string;
  delivery: string;
  fileUrl: string;
}

/** What every operation of the contract needs to succeed once. */
export async function makeWorld(service: TestService, clock: MovableClock): Promise<World> {
  const tenant = await createTenant(service, { clock });
  const db = service.service.parts.database.kysely;
  const video = newId("video");
  const openUpload = newId("video");
  const now = clock.now();
  for (const id of [video, openUpload]) {
    await db
      .insertInto("video")
      .values({ id, environment_id: tenant.environmentId, metadata: "{}", size_bytes: 10, created_at: now })
      .execute();
  }
  await db
    .updateTable("video")
    .set({ uploaded_at: now, ai_transcription: true })
    .where("id", "=", video)
    .execute();
  await db
    .insertInto("transcription")
    .values({
      id: newId("transcription"),
      video_id: video,
      environment_id: tenant.environmentId,
      status: "PENDING",
      job_id: newJobId(),
      stages: "null",
      created_at: now,
      queued_at: now,
    })
    .execute();
  const { videoId: completed } = await seedTranscript(service.service, {
    environmentId: tenant.environmentId,
    language: "en",
    text: "Good morning, everyone.",
  });
  const post = async (path: string, body: object) => {
    const response = await fetch(`${service.url}/api/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as { id: string };
  };
  const endpoint = (await post("/webhook-endpoints", { url: "https://example.com/hook" })).id;
  const delivery = (await post(`/webhook-endpoints/${endpoint}/test`, {})).id;
  const { transcripts } = service.service.parts;
  const key = `transcripts/${newId("transcription")}/1/transcript.txt`;
  await transcripts.put(key, Buffer.from("words"));
  const { url } = await transcripts.presign(key, {
    contentType: "text/plain",
    fileName: "a.txt",
    lifetimeSeconds: 300,
    now,
  });
  return { service, clock, tenant, openUpload, video, completed, endpoint, delivery, fileUrl: url };
}

/** A request that succeeds unless a provocation changes it. */
export function requestOf(
  operation: Operation,
  world: World,
  { path, headers = {}, body }: Change = {},
): { url: URL; init: RequestInit } {
  const merged = new Headers();
  if (operation.access !== "url") merged.set("authorization", `Bearer ${world.tenant.key}`);
  for (const [name, { example, required }] of Object.entries(operation.requestHeaders ?? {})) {
    if (required || name === "Upload-Length") merged.set(name, example);
  }
  if (operation.bodyMediaType) merged.set("content-type", operation.bodyMediaType);
  if (operation.bodyExample !== undefined) merged.set("content-type", "application/json");
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) merged.delete(name);
    else merged.set(name, value);
  }
  const ownBody =
    operation.bodyExample !== undefined
      ? JSON.stringify(operation.bodyExample)
      : operation.bodyMediaType !== undefined
        ? "0123456789"
        : undefined;
  const sent = body ?? ownBody;
  return {
    url:
      operation.id === "getFile"
        ? new URL(path ?? world.fileUrl, world.service.url)
        : urlOf(operation, world, path),
    init: {
      method: operation.method,
      headers: merged,
      ...(sent !== undefined && { body: sent as string }),
    },
  };
}

function urlOf(operation: Operation, world: World, path?: string): URL {
  const ids: Record<string, string> = {
    videoId: operation.path.endsWith("/words") ? world.completed : world.video,
    uploadId: world.openUpload,
    endpointId: world.endpoint,
    deliveryId: world.delivery,
  };
  const own = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => ids[name] ?? name);
  return new URL(path ?? own, world.service.url);
}

export async function ask(operation: Operation, world: World, change: Change = {}): Promise<Response> {
  const { url, init } = requestOf(operation, world, change);
  return await fetch(url, init);
}

function filePathOf({ service, fileUrl }: World): string {
  return join(service.dataFolder, new URL(fileUrl).pathname);
}

/** An unexpected error in a part that every signed URL depends on. */
async function withBrokenClock<T>({ clock }: World, run: () => Promise<T>): Promise<T> {
  const { now } = clock;
  clock.now = () => {
    throw new Error("the clock is broken");
  };
  try {
    return await run();
  } finally {
    clock.now = now;
  }
}

/** Provocations after which their world cannot be used again. */
export const RUINOUS: readonly ApiErrorCode[] = [
  "file_not_found",
  "file_url_expired",
  "open_upload_limit_reached",
  "range_not_satisfiable",
  "storage_full",
  "storage_object_unusable",
  "storage_unavailable",
  "upload_expired",
  "upload_locked",
  "webhook_endpoint_disabled",
  "webhook_endpoint_limit_reached",
];

async function askInTrouble(operation: Operation, world: World): Promise<Response> {
  const db = world.service.service.parts.database.kysely;
  if (operation.access === "url") return await withBrokenClock(world, () => ask(operation, world));
  await db.schema.alterTable("api_key").renameTo("api_key_gone").execute();
  try {
    return await ask(operation, world);
  } finally {
    await db.schema.alterTable("api_key_gone").renameTo("api_key").execute();
  }
}

async function removeWords({ service, completed }: World): Promise<void> {
  const { transcripts, database } = service.service.parts;
  const row = await database.kysely
    .selectFrom("transcription")
    .select("file_prefix")
    .where("video_id", "=", completed)
    .executeTakeFirstOrThrow();
  for await (const key of transcripts.list(`${row.file_prefix}/`)) await transcripts.remove(key);
}

async function askWithFullDisk(operation: Operation, world: World): Promise<Response> {
  const { transcripts } = world.service.service.parts;
  const { put } = transcripts;
  transcripts.put = async () => {
    throw new AppError("storage_full", "No space is left.");
  };
  try {
    return await ask(operation, world);
  } finally {
    transcripts.put = put;
  }
}

/** Fills an environment up to a limit with copies of its only row. */
async function fillUp({ service, tenant }: World, table: "video" | "webhook_endpoint"): Promise<void> {
  const db = service.service.parts.database.kysely;
  const [many, columns] = {
    video: [MAX_OPEN_UPLOADS, sql`metadata, size_bytes, created_at`],
    webhook_endpoint: [MAX_WEBHOOK_ENDPOINTS, sql`url, event_types, secret, metadata, created_at`],
  }[table] as [number, RawBuilder<unknown>];
  await sql`insert into ${sql.table(table)} (id, environment_id, ${columns})
    select 'copy_' || gen_random_uuid(), environment_id, ${columns}
    from (select * from ${sql.table(table)} where environment_id = ${tenant.environmentId} limit 1) as one,
      generate_series(1, ${many - 1}::int)`.execute(db);
}

/** Defers the length of the open upload, and makes all others as large as possible. */
async function deferLength({ service, openUpload }: World): Promise<void> {
  const { database, config } = service.service.parts;
  await sql`
    update video set size_bytes = case when id = ${openUpload} then null else ${config.maxUploadBytes}::bigint end
    where environment_id = (select environment_id from video where id = ${openUpload}) and uploaded_at is null
  `.execute(database.kysely);
}

type Provoke = (operation: Operation, world: World) => Promise<Response>;

const unknownIds = (world: World): World => ({
  ...world,
  video: newId("video"),
  completed: newId("video"),
  openUpload: newId("video"),
  endpoint: newId("endpoint"),
});

/** How to provoke each code, on any operation that documents it. `null`: tested separately. */
export const PROVOCATIONS: Record<ApiErrorCode, Provoke | null> = {
  missing_api_key: (operation, world) => ask(operation, world, { headers: { authorization: null } }),
  invalid_api_key: (operation, world) =>
    ask(operation, world, { headers: { authorization: "Bearer subtext_x" } }),
  insufficient_permission: async (operation, world) => {
    const permissions = PERMISSIONS.filter((permission) => permission !== operation.permission);
    const { key } = await createTenant(world.service, { permissions, clock: world.clock });
    return await ask(operation, world, { headers: { authorization: `Bearer ${key}` } });
  },
  video_not_found: (operation, world) => ask(operation, unknownIds(world)),
  transcription_not_found: async (operation, world) => {
    const off = await createTenant(world.service, { aiTranscription: false, clock: world.clock });
    const video = await upload(world.service, off, Buffer.from("x"));
    const headers = { authorization: `Bearer ${off.key}` };
    return await ask(operation, { ...world, video, completed: video }, { headers });
  },
  transcription_not_completed: (operation, world) => ask(operation, { ...world, completed: world.video }),
  transcript_changed: (operation, world) => ask(operation, world, { headers: { "if-match": '"9.9"' } }),
  invalid_words: (operation, world) => {
    const words = [{ word: " ", start: 0, end: 1 }];
    return ask(operation, world, { body: JSON.stringify({ words }) });
  },
  precondition_required: (operation, world) => ask(operation, world, { headers: { "if-match": null } }),
  upload_incomplete: (operation, world) =>
    ask(operation, { ...world, video: world.openUpload, completed: world.openUpload }),
  route_not_found: null,
  method_not_allowed: null,
  invalid_request: (operation, world) => {
    if (operation.query)
      return ask(operation, world, { path: `${urlOf(operation, world).pathname}?limit=0` });
    if (operation.body) return ask(operation, world, { body: '{"unknown":1}' });
    if (!acceptsIdempotencyKey(operation))
      return ask(operation, world, { path: `${operation.path.split("{")[0]}%zz` });
    return ask(operation, world, { headers: { "idempotency-key": "not one word" } });
  },
  invalid_metadata: (operation, world) => {
    const value = "x".repeat(5 * KIB);
    if (operation.id === "createUpload") {
      return ask(operation, world, { headers: { "upload-metadata": `a ${btoa(value)}` } });
    }
    const body = JSON.stringify({ ...(operation.bodyExample as object), metadata: { value } });
    return ask(operation, world, { body });
  },
  request_timeout: null,
  payload_too_large: async (operation, world) => {
    if (operation.id === "createUpload") {
      return await ask(operation, world, { headers: { "upload-length": String(Number.MAX_SAFE_INTEGER) } });
    }
    if (operation.id === "uploadChunk") return await ask(operation, world, { body: "0123456789+" });
    return await ask(operation, world, {
      body: JSON.stringify({ url: "x".repeat(operation.maxBodyBytes ?? 300 * KIB) }),
    });
  },
  headers_too_large: (operation, world) =>
    ask(operation, world, { headers: { "x-long": "x".repeat(20 * KIB) } }),
  unsupported_media_type: (operation, world) =>
    ask(operation, world, { headers: { "content-type": "text/plain", "content-encoding": "gzip" } }),
  rate_limited: null,
  internal_error: askInTrouble,
  service_unavailable: null,

  idempotency_key_reused: async (operation, world) => {
    const headers = { "idempotency-key": newJobId() };
    const other =
      acceptsIdempotencyKey(operation) && operation.id === "createVideo"
        ? "createWebhookEndpoint"
        : "createVideo";
    await ask(OPERATIONS[other], world, { headers });
    return await ask(operation, world, { headers });
  },
  idempotency_key_in_use: null,

  upload_not_found: (operation, world) => ask(operation, unknownIds(world)),
  upload_expired: async (operation, world) => {
    const created = await ask(OPERATIONS.createVideo, world, {
      body: JSON.stringify({ sizeBytes: 10, expiresInSeconds: 60 }),
    });
    const { upload } = (await created.json()) as { upload: { url: string } };
    world.clock.advance(61_000);
    return await ask(operation, world, { path: upload.url, headers: { authorization: null } });
  },
  upload_conflict: (operation, world) =>
    ask(operation, world, { headers: { "upload-offset": "5" }, body: "01234" }),
  open_upload_limit_reached: async (operation, world) => {
    await fillUp(world, "video");
    if (operation.id === "uploadChunk") await deferLength(world);
    return await ask(operation, world);
  },
  upload_locked: async (operation, world) => {
    if (operation.serverErrorReplacement) return await askInTrouble(operation, world);
    // Each of these stalls and yields half a second after the next one waits; the last ones wait too long.
    const { url, init } = requestOf(operation, world);
    const headers = { ...Object.fromEntries(init.headers as Headers), "content-length": "5" };
    const chunks = Array.from({ length: 10 }, () => request(url, { method: "PATCH", headers }));
    const refusals = chunks.map(async (chunk) => {
      chunk.flushHeaders();
      const [response] = (await once(chunk, "response")) as [IncomingMessage];
      if (response.statusCode !== 423) throw new Error("had its turn");
      return new Response(await text(response), { status: 423 });
    });
    try {
      return await Promise.any(refusals);
    } finally {
      for (const chunk of chunks) chunk.on("error", () => {}).destroy();
    }
  },
  upload_rejected: async (operation, world) => {
    if (operation.id === "createUpload")
      return await ask(operation, world, { headers: { "upload-length": null } });
    if (operation.id === "uploadChunk")
      return await ask(operation, world, { headers: { "upload-offset": null } });
    const finished = await ask(OPERATIONS.createVideo, world, { body: '{"sizeBytes":1}' });
    const { upload } = (await finished.json()) as { upload: { url: string } };
    await fetch(upload.url, {
      method: "PATCH",
      headers: {
        "tus-resumable": "1.0.0",
        "upload-offset": "0",
        "content-type": "application/offset+octet-stream",
      },
      body: "x",
    });
    return await ask(operation, world, { path: upload.url });
  },
  upload_version_unsupported: (operation, world) =>
    ask(operation, world, { headers: { "tus-resumable": "0.2.2" } }),
  upload_url_invalid: (operation, world) =>
    ask(operation, world, { path: `${urlOf(operation, world).pathname}?expires=99999999999&signature=x` }),
  origin_not_allowed: async (operation, world) => {
    const db = world.service.service.parts.database.kysely;
    const switchTo = (origins: string[]) =>
      db
        .updateTable("environment")
        .set({ allowed_origins: JSON.stringify(origins) })
        .where("id", "=", world.tenant.environmentId)
        .execute();
    await switchTo(["https://app.example"]);
    try {
      return await ask(operation, world, { headers: { origin: "https://other.example" } });
    } finally {
      await switchTo(["*"]);
    }
  },
  storage_full: async (operation, world) => {
    if (operation.id === "updateTranscriptWords") return await askWithFullDisk(operation, world);
    if (operation.id === "createVideo")
      return await ask(operation, world, { body: `{"sizeBytes":${ENDLESS}}` });
    return await ask(operation, world, { headers: { "upload-length": ENDLESS } });
  },

  file_url_invalid: (operation, world) => ask(operation, world, { path: `${world.fileUrl}x` }),
  file_url_expired: (operation, world) => {
    world.clock.advance(301_000);
    return ask(operation, world);
  },
  file_not_found: async (operation, world) => {
    if (operation.id === "getTranscriptWords") await removeWords(world);
    else await rm(filePathOf(world));
    return await ask(operation, world);
  },
  storage_unavailable: async (operation, world) => {
    const folder = join(world.service.dataFolder, "files");
    await rename(folder, `${folder}.gone`);
    try {
      return await ask(operation, world);
    } finally {
      await rename(`${folder}.gone`, folder);
    }
  },
  // Root, which runs the tests in containers, is never denied access.
  storage_object_denied: null,
  storage_object_unusable: async (operation, world) => {
    const file = filePathOf(world);
    await rm(file);
    await symlink(file, file);
    return await ask(operation, world);
  },
  range_not_satisfiable: (operation, world) => ask(operation, world, { headers: { range: "bytes=1000-" } }),

  webhook_endpoint_not_found: (operation, world) => ask(operation, unknownIds(world)),
  webhook_endpoint_limit_reached: async (operation, world) => {
    await fillUp(world, "webhook_endpoint");
    return await ask(operation, world);
  },
  webhook_endpoint_disabled: async (operation, world) => {
    await ask(OPERATIONS.updateWebhookEndpoint, world, { body: '{"enabled":false}' });
    return await ask(operation, world);
  },
  webhook_url_rejected: (operation, world) => ask(operation, world, { body: '{"url":"http://10.0.0.1/"}' }),
  delivery_not_found: (operation, world) => ask(operation, { ...world, delivery: newId("delivery") }),
};
