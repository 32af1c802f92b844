import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { TRANSCRIPT_FORMATS } from "@subtext/client/contract/transcription";
import type { Logger } from "pino";
import { CircuitBreaker } from "../../lib/circuit-breaker.ts";
import { AppError } from "../../lib/errors.ts";
import { contentDisposition } from "../content-disposition.ts";
import {
  isObjectFault,
  isObjectMissing,
  nullIfObjectMissing,
  objectDenied,
  objectMissing,
  objectUnusable,
} from "../object-errors.ts";
import { type ObjectStore, PROBE_CONTENT, PROBES_PREFIX } from "../object-store.ts";
import { clientConfig, type S3Config } from "./client-config.ts";
import { copySource, type S3Bucket, s3MultipartUploads } from "./multipart.ts";
import { UrlSigner } from "./url-signer.ts";

const RETRY_AFTER_SECONDS = 10;
const PROBE_TIMEOUT_MS = 5_000;

export function openS3ObjectStore(config: S3Config, log: Logger | null = null): ObjectStore {
  const { name, prefix } = config;
  const client = new S3Client(clientConfig(config, config.endpoint));
  const presigner = new S3Client(clientConfig(config, config.publicEndpoint ?? config.endpoint));
  const signer = new UrlSigner(presigner, name);
  const fullKey = (key: string) => prefix + key;
  const circuit = new CircuitBreaker({
    name: "the bucket",
    log,
    probe: () => probe(client, { Bucket: name, Key: fullKey(PROBES_PREFIX + randomUUID()) }),
    // Keeps the SDK's error as the cause, because the classified error would repeat the message and name the probe
    // object.
    toError: (error) => storageUnavailable(error instanceof AppError ? error.cause : error),
  });
  const run: S3Bucket["run"] = async (operation, signal) => {
    circuit.assertAvailable();
    const aborted = new AbortController();
    const endTracking = circuit.track((reason) => aborted.abort(reason));
    const abortSignal = signal ? AbortSignal.any([signal, aborted.signal]) : aborted.signal;
    try {
      return await operation(client, { abortSignal });
    } catch (error) {
      if (aborted.signal.aborted) throw aborted.signal.reason;
      const classified = storageError(error);
      if (classified instanceof AppError && classified.code === "storage_unavailable") circuit.markSuspect();
      // If the bucket refuses the probe too, it is unavailable, for example because of invalid credentials or a changed
      // policy.
      else if (isObjectFault(classified)) await circuit.probe();
      throw classified;
    } finally {
      endTracking();
    }
  };

  return {
    name,
    setting: "S3_BUCKET",
    multipart: s3MultipartUploads({ name, prefix, run }),
    toStorageError: storageError,
    assertAvailable: () => circuit.probe(),

    async put(key, content) {
      const command = new PutObjectCommand({ Bucket: name, Key: fullKey(key), Body: content });
      await run((s3, options) => s3.send(command, options));
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
        const send = () => run((s3, options) => s3.send(command, options));
        // The response to HEAD has no body with a reason. If the reason was this machine's clock, the client has
        // corrected the time by now, so one retry succeeds.
        const found = await send().catch((error) => (isObjectFault(error) ? send() : Promise.reject(error)));
        return { sizeBytes: found.ContentLength ?? 0, etag: found.ETag ?? "" };
      } catch (error) {
        return nullIfObjectMissing(error);
      }
    },

    async remove(key) {
      try {
        const command = new DeleteObjectCommand({ Bucket: name, Key: fullKey(key) });
        await run((s3, options) => s3.send(command, options));
      } catch (error) {
        // AWS responds 204 if the object does not exist, others respond 404.
        if (!isObjectMissing(error)) throw error;
      }
    },

    async copy(from, to) {
      const command = new CopyObjectCommand({
        Bucket: name,
        Key: fullKey(to),
        CopySource: copySource(name, fullKey(from)),
      });
      await run((s3, options) => s3.send(command, options));
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
        for (const { Key = "", Size = 0, ETag = "", LastModified = new Date(0) } of page.Contents ?? []) {
          yield { key: Key.slice(prefix.length), sizeBytes: Size, etag: ETag, writtenAt: LastModified };
        }
        from = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (from !== undefined);
    },

    async presign(key, { contentType, fileName, lifetimeSeconds, now }) {
      // Signatures have one-second resolution. Rounded up, so that the URL never expires early.
      const signingDate = new Date(Math.ceil(now.getTime() / 1000) * 1000);
      const query = {
        "response-content-type": isTranscript(contentType) ? `${contentType}; charset=utf-8` : contentType,
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
      circuit.close();
      client.destroy();
      presigner.destroy();
    },
  };
}

/** Every transcript file is text in UTF-8; recordings are not. */
function isTranscript(contentType: string): boolean {
  return Object.values(TRANSCRIPT_FORMATS).some((format) => format.contentType === contentType);
}

const FULL = new Set([
  "QuotaExceeded",
  "XMinioStorageFull",
  "InsufficientStorage",
  "ServerSideQuotaExceeded",
]);
const MISSING = new Set(["NoSuchKey", "NotFound", "NoSuchUpload"]);
/** Caused by a slow connection or this machine's clock, not by the object. */
const TRANSIENT = new Set(["RequestTimeout", "RequestTimeoutException", "RequestTimeTooSkewed"]);
/** The SDK's error has no specific name. */
const CHECKSUM_MISMATCH = /^Checksum mismatch/;
const DENIED_STATUSES = [401, 403];
const BUSY_STATUSES = [408, 425, 429];

/**
 * Converts an error of the SDK. Returns aborts unchanged. The cause is for the log: it contains keys and statuses,
 * never credentials.
 */
function storageError(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  if (error.name === "AbortError" || error instanceof TypeError) return error;
  const { name, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  const text = `${name}${status === undefined ? "" : ` (${status})`}: ${error.message}`;
  const cause = Object.assign(new Error(text), { code: name });
  if (MISSING.has(name)) return objectMissing(cause);
  if (FULL.has(name) || status === 507) {
    return new AppError("storage_full", "No space is left to store files.", { cause });
  }
  if (CHECKSUM_MISMATCH.test(error.message)) return objectUnusable(cause);
  const isRefusal = status !== undefined && status >= 400 && status < 500;
  if (!isRefusal || BUSY_STATUSES.includes(status) || TRANSIENT.has(name)) return storageUnavailable(cause);
  return DENIED_STATUSES.includes(status) ? objectDenied(cause) : objectUnusable(cause);
}

function storageUnavailable(cause: unknown): AppError {
  return new AppError("storage_unavailable", "The storage currently cannot be read or written.", {
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
    cause,
  });
}

async function probe(client: S3Client, target: { Bucket: string; Key: string }): Promise<void> {
  const options = { abortSignal: AbortSignal.timeout(PROBE_TIMEOUT_MS) };
  try {
    await client.send(new PutObjectCommand({ ...target, Body: PROBE_CONTENT }), options);
  } catch (error) {
    const classified = storageError(error);
    // A full bucket can still be read.
    if (classified instanceof AppError && classified.code === "storage_full") return;
    throw classified;
  }
  try {
    const { Body } = await client.send(new GetObjectCommand(target), options);
    const content = await text(Body as Readable);
    if (content !== PROBE_CONTENT)
      throw new Error("the probe object does not have the content that was written");
  } finally {
    // If the removal fails, a later start removes the object.
    await client.send(new DeleteObjectCommand(target), options).catch(() => {});
  }
}

/**
 * Creates the bucket in the configured region. Does nothing if it exists and belongs to the same account.
 * @throws Error with a readable message, and the SDK's error as its cause
 */
export async function createS3Bucket(config: S3Config): Promise<void> {
  const client = new S3Client(clientConfig(config, config.endpoint));
  try {
    // The SDK adds the region.
    await client.send(new CreateBucketCommand({ Bucket: config.name }));
  } catch (error) {
    const { name } = error as Error;
    if (name === "BucketAlreadyExists") {
      throw new Error(`Another account has a bucket named ${config.name}. Choose another S3_BUCKET.`, {
        cause: error,
      });
    }
    if (name === "BucketAlreadyOwnedByYou") return;
    const where = config.endpoint === null ? "" : ` at ${config.endpoint}`;
    throw new Error(
      `The bucket ${config.name} could not be created${where}. Check the S3_… settings and the permissions of the key.`,
      { cause: error },
    );
  } finally {
    client.destroy();
  }
}
