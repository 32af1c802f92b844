import { buffer } from "node:stream/consumers";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { AppError } from "../errors.ts";
import type { Bucket } from "./bucket.ts";

/** Finished recordings, and the multipart uploads that become them, by the id of the video. */
export const SOURCES = "uploads/";
/** What has come of a recording and is no whole part yet: `tails/<video>/<where in the recording it begins>`. */
export const TAILS = "tails/";

/** S3 takes no less, but for the last part; and no more than 10,000 of them. */
const SMALLEST_PART_BYTES = 5 * 1024 ** 2;
const MOST_PARTS = 10_000;

interface Part {
  number: number;
  etag: string;
  sizeBytes: number;
}

/** How much of a recording is in the bucket. */
export interface UploadState {
  /** Whether it is one object. */
  whole: boolean;
  sizeBytes: number;
  writtenAt: Date;
  /** Null where no part has been sent yet, and where it is whole. */
  multipartId: string | null;
  parts: Part[];
  tailBytes: number;
}

/** Parts of one size, as some servers want them. */
export function partSizeFor(maxUploadBytes: number): number {
  return Math.max(SMALLEST_PART_BYTES, Math.ceil(maxUploadBytes / (MOST_PARTS - 1)));
}

/** Null where nothing has come. What a crash left between two steps is told as what it amounts to. */
export async function readUpload(bucket: Bucket, videoId: string): Promise<UploadState | null> {
  const whole = await readWhole(bucket, videoId);
  if (whole) return whole;
  const [multipart] = await listMultiparts(bucket, SOURCES + videoId);
  const parts = multipart ? await listParts(bucket, videoId, multipart.id) : [];
  // Null where it was completed or given up since it was listed.
  if (parts === null) return await readWhole(bucket, videoId);
  const partsBytes = sumOf(parts);
  const tails = await Array.fromAsync(bucket.list(tailsOf(videoId)));
  const tail = tails.find(({ key }) => key === tailKey(videoId, partsBytes));
  // Looked for again: it may have become whole since the first look, and its parts are gone then.
  if (!multipart && !tail) return await readWhole(bucket, videoId);
  const signs = [multipart?.begunAt, tail?.writtenAt, ...parts.map((part) => part.writtenAt)];
  return {
    whole: false,
    sizeBytes: partsBytes + (tail?.sizeBytes ?? 0),
    writtenAt: new Date(Math.max(...signs.map((sign) => sign?.getTime() ?? 0))),
    multipartId: multipart?.id ?? null,
    parts,
    tailBytes: tail?.sizeBytes ?? 0,
  };
}

/**
 * Adds what comes to what is there. What was acknowledged once is never lost: a tail goes only after the part
 * that holds its bytes is there, and what has come before the stream breaks is kept.
 * @param sizeBytes of the whole recording, which is made one object when it is reached; null where unknown
 * @returns how much there is afterwards
 */
export async function appendToUpload(
  bucket: Bucket,
  videoId: string,
  content: AsyncIterable<Buffer>,
  { offset, sizeBytes, partBytes }: { offset: number; sizeBytes: number | null; partBytes: number },
): Promise<number> {
  const state = (await readUpload(bucket, videoId)) ?? NOTHING;
  // Told once more that it is complete, with no more to add.
  if (state.whole && state.sizeBytes === offset && sizeBytes === offset) return offset;
  if (state.whole || state.sizeBytes !== offset) {
    throw new AppError("upload_conflict", `${state.sizeBytes} bytes have come.`);
  }
  const writing = { ...state, parts: [...state.parts] };
  let pending = state.tailBytes === 0 ? Buffer.alloc(0) : await readTail(bucket, videoId, state);
  let broken: { reason: unknown } | null = null;

  const chunks: Buffer[] = [pending];
  let pendingBytes = pending.length;
  try {
    for await (const chunk of content) {
      chunks.push(chunk);
      pendingBytes += chunk.length;
      if (pendingBytes < partBytes) continue;
      pending = Buffer.concat(chunks);
      for (; pending.length >= partBytes; pending = pending.subarray(partBytes)) {
        await addPart(bucket, videoId, writing, pending.subarray(0, partBytes));
      }
      chunks.splice(0, chunks.length, pending);
      pendingBytes = pending.length;
    }
  } catch (reason) {
    broken = { reason };
  }
  pending = Buffer.concat(chunks);
  const partsBytes = sumOf(writing.parts);
  const comeBytes = partsBytes + pending.length;
  if (comeBytes === sizeBytes) await makeWhole(bucket, videoId, writing, pending);
  else if (pending.length > 0 && comeBytes > offset) await bucket.put(tailKey(videoId, partsBytes), pending);
  // Those that are parts now.
  if (partsBytes > sumOf(state.parts) || comeBytes === sizeBytes) {
    await removeTails(bucket, videoId, comeBytes === sizeBytes ? null : partsBytes);
  }
  if (broken) throw broken.reason;
  return comeBytes;
}

/** Makes one object of a recording whose bytes have all come. @throws AppError `storage_object_missing` */
export async function completeUpload(bucket: Bucket, videoId: string): Promise<void> {
  const state = await readUpload(bucket, videoId);
  if (!state) throw new AppError("storage_object_missing", "The uploaded recording is missing.");
  if (state.whole) return;
  const tail = state.tailBytes === 0 ? Buffer.alloc(0) : await readTail(bucket, videoId, state);
  await makeWhole(bucket, videoId, { ...state, parts: [...state.parts] }, tail);
  await removeTails(bucket, videoId, null);
}

/** Removes what is there, whole or in parts; where there is nothing, that is no error. */
export async function removeUpload(bucket: Bucket, videoId: string): Promise<void> {
  for (const { id } of await listMultiparts(bucket, SOURCES + videoId)) {
    const aborted = new AbortMultipartUploadCommand({ ...place(bucket, videoId), UploadId: id });
    await unlessMissing(bucket.run((s3, options) => s3.send(aborted, options)));
  }
  await bucket.remove(SOURCES + videoId);
  await removeTails(bucket, videoId, null);
}

/** Ids of the videos that something of lies there; one may come more than once. */
export async function* listUploads(bucket: Bucket): AsyncGenerator<string> {
  for await (const { key } of bucket.list(SOURCES)) yield key.slice(SOURCES.length);
  for await (const { key } of bucket.list(TAILS)) yield key.slice(TAILS.length).split("/")[0]!;
  for (const { key } of await listMultiparts(bucket, SOURCES, { below: true }))
    yield key.slice(SOURCES.length);
}

const NOTHING: UploadState = {
  whole: false,
  sizeBytes: 0,
  writtenAt: new Date(0),
  multipartId: null,
  parts: [],
  tailBytes: 0,
};

async function readWhole(bucket: Bucket, videoId: string): Promise<UploadState | null> {
  const found = await bucket.head(SOURCES + videoId);
  return found && { ...NOTHING, whole: true, sizeBytes: found.sizeBytes, writtenAt: found.writtenAt };
}

async function addPart(
  bucket: Bucket,
  videoId: string,
  writing: UploadState,
  content: Buffer,
): Promise<void> {
  if (writing.multipartId === null) {
    const create = new CreateMultipartUploadCommand(place(bucket, videoId));
    const created = await bucket.run((s3, options) => s3.send(create, options));
    writing.multipartId = created.UploadId ?? "";
  }
  const number = (writing.parts.at(-1)?.number ?? 0) + 1;
  const command = new UploadPartCommand({
    ...place(bucket, videoId),
    UploadId: writing.multipartId,
    PartNumber: number,
    Body: content,
  });
  const { ETag = "" } = await bucket.run((s3, options) => s3.send(command, options));
  writing.parts.push({ number, etag: ETag, sizeBytes: content.length });
}

async function makeWhole(bucket: Bucket, videoId: string, writing: UploadState, rest: Buffer): Promise<void> {
  if (writing.multipartId === null) return await bucket.put(SOURCES + videoId, rest);
  if (rest.length > 0) await addPart(bucket, videoId, writing, rest);
  const command = new CompleteMultipartUploadCommand({
    ...place(bucket, videoId),
    UploadId: writing.multipartId,
    MultipartUpload: { Parts: writing.parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag })) },
  });
  try {
    await bucket.run((s3, options) => s3.send(command, options));
  } catch (error) {
    // A repetition, where the answer to the first was lost, or another process was faster.
    const whole = await readWhole(bucket, videoId);
    if (whole?.sizeBytes !== sumOf(writing.parts)) throw error;
  }
}

async function readTail(bucket: Bucket, videoId: string, state: UploadState): Promise<Buffer> {
  return await buffer(await bucket.get(tailKey(videoId, sumOf(state.parts))));
}

/** @param keptStart where the one begins that is still needed; null for none */
async function removeTails(bucket: Bucket, videoId: string, keptStart: number | null): Promise<void> {
  const kept = keptStart === null ? null : tailKey(videoId, keptStart);
  for await (const { key } of bucket.list(tailsOf(videoId))) if (key !== kept) await bucket.remove(key);
}

/** The oldest first: where two came to be, by whatever accident, all see the same. */
async function listMultiparts(
  bucket: Bucket,
  key: string,
  { below = false } = {},
): Promise<{ id: string; key: string; begunAt: Date }[]> {
  const found: { id: string; key: string; begunAt: Date }[] = [];
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
async function listParts(
  bucket: Bucket,
  videoId: string,
  multipartId: string,
): Promise<(Part & { writtenAt: Date })[] | null> {
  const parts: (Part & { writtenAt: Date })[] = [];
  let after: string | undefined;
  do {
    const command = new ListPartsCommand({
      ...place(bucket, videoId),
      UploadId: multipartId,
      ...(after !== undefined && { PartNumberMarker: after }),
    });
    const page = await unlessMissing(bucket.run((s3, options) => s3.send(command, options)));
    if (!page) return null;
    for (const { PartNumber = 0, ETag = "", Size = 0, LastModified = new Date(0) } of page.Parts ?? []) {
      parts.push({ number: PartNumber, etag: ETag, sizeBytes: Size, writtenAt: LastModified });
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

function place(bucket: Bucket, videoId: string): { Bucket: string; Key: string } {
  return { Bucket: bucket.name, Key: bucket.fullKey(SOURCES + videoId) };
}

function tailsOf(videoId: string): string {
  return `${TAILS}${videoId}/`;
}

function tailKey(videoId: string, start: number): string {
  return tailsOf(videoId) + start;
}

function sumOf(parts: { sizeBytes: number }[]): number {
  return parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
