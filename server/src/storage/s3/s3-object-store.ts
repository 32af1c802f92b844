import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import type { Logger } from "pino";
import { OutageWatch } from "../../lib/circuit-breaker.ts";
import { AppError } from "../../lib/errors.ts";
import { contentDisposition } from "../content-disposition.ts";
import { isObjectFault, objectDenied, objectMissing, objectUnusable } from "../object-errors.ts";
import type { PresignedUrl, PresignOptions } from "../transcript-store.ts";
import { UrlSigner } from "./url-signer.ts";

/** A bucket of S3, or of a server that speaks as S3 does. */
export interface BucketConfig {
  name: string;
  region: string;
  /** Null for AWS. */
  endpoint: string | null;
  /** Where clients of the service reach the bucket, where that is another address; null for `endpoint`. */
  publicEndpoint: string | null;
  /** `https://host/bucket/key` instead of `https://bucket.host/key`. */
  forcePathStyle: boolean;
  /** Null to look for them where AWS's own tools do: environment, shared files, the machine's role. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  /** What every key begins with: empty, or ending with a slash. */
  prefix: string;
}

/** The few operations that everything in a bucket is made of. Keys are given without the prefix. */
export interface Bucket {
  readonly client: S3Client;
  readonly name: string;
  /** The key as the bucket knows it. */
  fullKey(key: string): string;
  put(key: string, content: Uint8Array, signal?: AbortSignal): Promise<void>;
  get(key: string, range?: ByteRequest): Promise<Readable>;
  /** Null where there is no such object. */
  head(key: string): Promise<{ sizeBytes: number; etag: string } | null>;
  remove(key: string): Promise<void>;
  list(prefix: string): AsyncGenerator<{ key: string; sizeBytes: number; writtenAt: Date }>;
  presign(key: string, options: PresignOptions): Promise<PresignedUrl>;
  /**
   * Runs one command, which must be sent with the options.
   * @throws AppError `storage_object_missing`, `storage_object_denied` and `storage_object_unusable` if other
   *   objects can be written and read, else `storage_full`, `storage_unavailable`
   */
  run<T>(
    operation: (client: S3Client, options: { abortSignal: AbortSignal }) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
  /**
   * Writes and reads an object of its own, to tell a fault of one object from an outage.
   * @throws AppError `storage_unavailable`
   */
  assertAvailable(): Promise<void>;
  close(): void;
}

export interface ByteRequest {
  start: number;
  /** Included. */
  end: number;
  /** The object must still be this one. */
  etag?: string;
  signal?: AbortSignal;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Without a byte in either direction. */
const IDLE_TIMEOUT_MS = 30_000;
/** With the waits of the SDK between them, a second in all: whoever asked tries again, with longer waits. */
const ATTEMPTS = 3;
const RETRY_AFTER_SECONDS = 10;
const PROBE_TIMEOUT_MS = 5_000;
/** Not in the alphabet of keys, so an object stored here can never be mistaken for one of the service. */
export const PROBES = "~probes/";
export const PROBE_CONTENT = "subtext";

export function openBucket(config: BucketConfig, log: Logger | null = null): Bucket {
  const { name, prefix } = config;
  const client = new S3Client(clientConfig(config, config.endpoint));
  const presigner = new S3Client(clientConfig(config, config.publicEndpoint ?? config.endpoint));
  const signer = new UrlSigner(presigner, name);
  const fullKey = (key: string) => prefix + key;
  const outages = new OutageWatch({
    name: "the bucket",
    log,
    ask: () => probe(client, { Bucket: name, Key: fullKey(PROBES + randomUUID()) }),
    // Only what the storage said: the probe's own classification would double the message, and name a file that nobody wants.
    away: (error) => storageUnavailable(error instanceof AppError ? error.cause : error),
  });
  const run: Bucket["run"] = async (operation, signal) => {
    outages.assertThere();
    const ending = new AbortController();
    const answered = outages.asked((reason) => ending.abort(reason));
    const abortSignal = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
    try {
      return await operation(client, { abortSignal });
    } catch (error) {
      if (ending.signal.aborted) throw ending.signal.reason;
      const named = storageError(error);
      if (named instanceof AppError && named.code === "storage_unavailable") outages.suspect();
      // A bucket that refuses every object is unavailable: its credentials are invalid, or a policy has changed.
      else if (isObjectFault(named)) await outages.assertAnswers();
      throw named;
    } finally {
      answered();
    }
  };

  return {
    client,
    name,
    fullKey,
    run,
    assertAvailable: () => outages.assertAnswers(),

    async put(key, content, signal) {
      const command = new PutObjectCommand({ Bucket: name, Key: fullKey(key), Body: content });
      await run((s3, options) => s3.send(command, options), signal);
    },

    async get(key, range) {
      const command = new GetObjectCommand({
        Bucket: name,
        Key: fullKey(key),
        ...(range && { Range: `bytes=${range.start}-${range.end}` }),
        ...(range?.etag && { IfMatch: range.etag }),
      });
      const { Body } = await run((s3, options) => s3.send(command, options), range?.signal);
      return Body as Readable;
    },

    async head(key) {
      try {
        const command = new HeadObjectCommand({ Bucket: name, Key: fullKey(key) });
        const found = await run((s3, options) => s3.send(command, options));
        return { sizeBytes: found.ContentLength ?? 0, etag: found.ETag ?? "" };
      } catch (error) {
        if (error instanceof AppError && error.code === "storage_object_missing") return null;
        throw error;
      }
    },

    async remove(key) {
      try {
        const command = new DeleteObjectCommand({ Bucket: name, Key: fullKey(key) });
        await run((s3, options) => s3.send(command, options));
      } catch (error) {
        // AWS answers 204 for what is not there, others 404.
        if (!(error instanceof AppError) || error.code !== "storage_object_missing") throw error;
      }
    },

    async *list(listed) {
      let from: string | undefined;
      do {
        const command: ListObjectsV2Command = new ListObjectsV2Command({
          Bucket: name,
          Prefix: fullKey(listed),
          ...(from !== undefined && { ContinuationToken: from }),
        });
        const page = await run((s3, options) => s3.send(command, options));
        for (const { Key = "", Size = 0, LastModified = new Date(0) } of page.Contents ?? []) {
          yield { key: Key.slice(prefix.length), sizeBytes: Size, writtenAt: LastModified };
        }
        from = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (from !== undefined);
    },

    async presign(key, { contentType, fileName, lifetimeSeconds, now }) {
      // Signatures count whole seconds: from the next one on, so that it is never shorter than was promised.
      const signingDate = new Date(Math.ceil(now.getTime() / 1000) * 1000);
      const query = {
        "response-content-type": isText(contentType) ? `${contentType}; charset=utf-8` : contentType,
        "response-content-disposition": contentDisposition(fileName, contentType),
        "response-cache-control": "private, no-store",
      };
      try {
        const url = await signer.sign(fullKey(key), { query, lifetimeSeconds, signingDate });
        return { url, expiresAt: new Date(signingDate.getTime() + lifetimeSeconds * 1000) };
      } catch (error) {
        throw storageError(error);
      }
    },

    close() {
      outages.close();
      client.destroy();
      presigner.destroy();
    },
  };
}

function clientConfig(config: BucketConfig, endpoint: string | null): S3ClientConfig {
  const { region, forcePathStyle, credentials } = config;
  return {
    region,
    forcePathStyle,
    ...(endpoint !== null && { endpoint }),
    ...(credentials !== null && { credentials }),
    // What AWS has made the default since 2025 is refused by many servers that speak as S3 does.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
  };
}

function isText(contentType: string): boolean {
  return contentType.startsWith("text/") || contentType === "application/json";
}

const FULL = new Set([
  "QuotaExceeded",
  "XMinioStorageFull",
  "InsufficientStorage",
  "ServerSideQuotaExceeded",
]);
const MISSING = new Set(["NoSuchKey", "NotFound", "NoSuchUpload"]);
/** Not a statement of the storage about the object: the connection was too slow. */
const TIMED_OUT = new Set(["RequestTimeout", "RequestTimeoutException"]);
/** Of the SDK, which gives it no name. */
const CHECKSUM_MISMATCH = /^Checksum mismatch/;
const DENIED_STATUSES = [401, 403];
const BUSY_STATUSES = [408, 425, 429];

/**
 * What went wrong, by the names of the service; an abort stays what it is. What the storage said is the cause,
 * for the log: it names keys and statuses, never credentials.
 */
export function storageError(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  if (error.name === "AbortError" || error instanceof TypeError) return error;
  const { name, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  const cause = new Error(`${name}${status === undefined ? "" : ` (${status})`}: ${error.message}`);
  if (MISSING.has(name)) return objectMissing(cause);
  if (FULL.has(name) || status === 507) {
    return new AppError("storage_full", "There is no space left to store files.", { cause });
  }
  if (CHECKSUM_MISMATCH.test(error.message)) return objectUnusable(cause);
  const isRefusal = status !== undefined && status >= 400 && status < 500;
  if (!isRefusal || BUSY_STATUSES.includes(status) || TIMED_OUT.has(name)) return storageUnavailable(cause);
  return DENIED_STATUSES.includes(status) ? objectDenied(cause) : objectUnusable(cause);
}

function storageUnavailable(cause: unknown): AppError {
  return new AppError("storage_unavailable", "The storage can not be read or written now.", {
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
    cause,
  });
}

/** @throws the error of the storage, if a probe object cannot be written and read */
async function probe(client: S3Client, place: { Bucket: string; Key: string }): Promise<void> {
  const options = { abortSignal: AbortSignal.timeout(PROBE_TIMEOUT_MS) };
  try {
    await client.send(new PutObjectCommand({ ...place, Body: PROBE_CONTENT }), options);
  } catch (error) {
    const named = storageError(error);
    // A full bucket can still be read.
    if (named instanceof AppError && named.code === "storage_full") return;
    throw named;
  }
  try {
    const { Body } = await client.send(new GetObjectCommand(place), options);
    const content = await text(Body as Readable);
    if (content !== PROBE_CONTENT) throw new Error("a probe was not read as it was written");
  } finally {
    // If it cannot be removed now, the next start removes it.
    await client.send(new DeleteObjectCommand(place), options).catch(() => {});
  }
}
