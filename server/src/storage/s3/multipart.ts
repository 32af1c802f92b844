import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { AppError } from "../../lib/errors.ts";
import type { Bucket } from "./s3-object-store.ts";

/** An object that comes in parts, and is none until it is completed. */
interface Multipart {
  /** Of the object, without the bucket's prefix. */
  key: string;
  id: string;
}

export interface Part {
  /** From 1. */
  number: number;
  etag: string;
  sizeBytes: number;
}

/** @returns its id */
export async function beginMultipart(bucket: Bucket, key: string): Promise<string> {
  const command = new CreateMultipartUploadCommand({ Bucket: bucket.name, Key: bucket.fullKey(key) });
  const { UploadId = "" } = await bucket.run((s3, options) => s3.send(command, options));
  return UploadId;
}

/** One of a number that is there already is replaced. */
export async function sendPart(
  bucket: Bucket,
  multipart: Multipart,
  number: number,
  content: Buffer,
): Promise<Part> {
  const place = placeOf(bucket, multipart);
  const command = new UploadPartCommand({ ...place, PartNumber: number, Body: content });
  const { ETag = "" } = await bucket.run((s3, options) => s3.send(command, options));
  return { number, etag: ETag, sizeBytes: content.length };
}

export async function completeMultipart(
  bucket: Bucket,
  multipart: Multipart,
  parts: readonly Part[],
): Promise<void> {
  const command = new CompleteMultipartUploadCommand({
    ...placeOf(bucket, multipart),
    MultipartUpload: { Parts: parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag })) },
  });
  await bucket.run((s3, options) => s3.send(command, options));
}

/** Of this very key. */
export async function abortMultiparts(bucket: Bucket, key: string): Promise<void> {
  for (const multipart of await listMultiparts(bucket, key)) {
    const command = new AbortMultipartUploadCommand(placeOf(bucket, multipart));
    await unlessMissing(bucket.run((s3, options) => s3.send(command, options)));
  }
}

/** The oldest first: where two came to be, by whatever accident, all see the same. */
export async function listMultiparts(
  bucket: Bucket,
  key: string,
  { below = false } = {},
): Promise<(Multipart & { begunAt: Date })[]> {
  const found: (Multipart & { begunAt: Date })[] = [];
  let from: { KeyMarker?: string; UploadIdMarker?: string } = {};
  for (;;) {
    const command = new ListMultipartUploadsCommand({
      Bucket: bucket.name,
      Prefix: bucket.fullKey(key),
      ...from,
    });
    const page = await bucket.run((s3, options) => s3.send(command, options));
    for (const { Key = "", UploadId = "", Initiated = new Date(0) } of page.Uploads ?? []) {
      const own = Key.slice(bucket.fullKey("").length);
      if (below || own === key) found.push({ id: UploadId, key: own, begunAt: Initiated });
    }
    if (!page.IsTruncated || !page.NextKeyMarker) break;
    from = {
      KeyMarker: page.NextKeyMarker,
      ...(page.NextUploadIdMarker && { UploadIdMarker: page.NextUploadIdMarker }),
    };
  }
  return found.sort((a, b) => a.begunAt.getTime() - b.begunAt.getTime() || (a.id < b.id ? -1 : 1));
}

/** Null where there is no such multipart upload (any more). */
export async function listParts(bucket: Bucket, multipart: Multipart): Promise<Part[] | null> {
  const parts: Part[] = [];
  let after: string | undefined;
  do {
    const command = new ListPartsCommand({
      ...placeOf(bucket, multipart),
      ...(after !== undefined && { PartNumberMarker: after }),
    });
    const page = await unlessMissing(bucket.run((s3, options) => s3.send(command, options)));
    if (!page) return null;
    for (const { PartNumber = 0, ETag = "", Size = 0 } of page.Parts ?? []) {
      parts.push({ number: PartNumber, etag: ETag, sizeBytes: Size });
    }
    after = page.IsTruncated ? page.NextPartNumberMarker : undefined;
  } while (after !== undefined);
  return parts.sort((a, b) => a.number - b.number);
}

async function unlessMissing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AppError && error.code === "storage_object_missing") return null;
    throw error;
  }
}

function placeOf(bucket: Bucket, { key, id }: Multipart): { Bucket: string; Key: string; UploadId: string } {
  return { Bucket: bucket.name, Key: bucket.fullKey(key), UploadId: id };
}
