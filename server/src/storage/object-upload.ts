import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { AppError } from "../lib/errors.ts";
import { TurnQueue } from "../lib/turn-queue.ts";
import { MAX_PARTS, type ObjectStore, type UploadedPart } from "./object-store.ts";
import { PartBuffer } from "./part-buffer.ts";

/** Key prefix of complete recordings and of their multipart uploads, by video id. */
export const RECORDINGS_PREFIX = "uploads/";
/** Key prefix of tails: received bytes that do not fill a part yet, as `tails/<video>/<offset in the recording>`. */
export const TAILS_PREFIX = "tails/";

/** S3's minimum size of every part except the last. */
const MIN_PART_BYTES = 5 * 1024 ** 2;

/** Limits the memory for parts that are being sent. One part is always allowed. */
const PARTS_IN_MEMORY_BYTES = 64 * 1024 ** 2;

export interface PartBuffers {
  partBytes: number;
  /** A folder on this machine's disk. It contains at most one part of each active upload. */
  folder: string;
  /** Limits the total size of the parts on disk. */
  onDisk: TurnQueue;
  /** Limits the total size of the parts in memory. */
  sending: TurnQueue;
}

/** @param diskBytes limits the total size of parts on disk; one part is always allowed */
export function openPartBuffers(options: {
  partBytes: number;
  folder: string;
  diskBytes: number;
}): PartBuffers {
  const { partBytes, folder, diskBytes } = options;
  const partsWithin = (bytes: number) => {
    const maxRunning = Math.max(1, Math.floor(bytes / partBytes));
    return new TurnQueue({ maxRunning, maxRunningPerOwner: maxRunning, maxWaiting: Infinity });
  };
  return { partBytes, folder, onDisk: partsWithin(diskBytes), sending: partsWithin(PARTS_IN_MEMORY_BYTES) };
}

/** @param signal aborts the wait for disk space */
export function openPartBuffer(
  { folder, onDisk }: PartBuffers,
  videoId: string,
  signal: AbortSignal,
): PartBuffer {
  return new PartBuffer({ folder, reserve: () => onDisk.enter(videoId, signal) });
}

/** After this time, a process that froze or was disconnected may have lost its lock on the upload. */
const LOCK_MAY_BE_LOST_AFTER_MS = 10_000;

export interface UploadState {
  /** Whether the complete recording is stored as one object. */
  isComplete: boolean;
  sizeBytes: number;
  /** Null before the first part, and if the recording is complete. */
  multipartId: string | null;
  parts: UploadedPart[];
  tailBytes: number;
}

/** Returns the size of all parts, because some servers require equal sizes. */
export function partSizeFor(maxUploadBytes: number): number {
  return Math.max(MIN_PART_BYTES, Math.ceil(maxUploadBytes / (MAX_PARTS - 1)));
}

/** Reads the state of an upload, even after a crash at any step. Returns null if no bytes are stored. */
export async function readUpload(objects: ObjectStore, videoId: string): Promise<UploadState | null> {
  const completed = await readCompleted(objects, videoId);
  if (completed) return completed;
  const [multipart] = await objects.multipart.list(RECORDINGS_PREFIX + videoId);
  const parts = multipart ? await objects.multipart.listParts(multipart) : [];
  // The multipart upload was completed or aborted after it was listed.
  if (parts === null) return await readCompleted(objects, videoId);
  const partsBytes = sumOf(parts);
  const tails = await Array.fromAsync(objects.list(tailsOf(videoId)));
  const tail = tails.find(({ key }) => key === tailKey(videoId, partsBytes));
  // Check again, because another process may have completed the recording since the first check.
  if (!multipart && !tail) return await readCompleted(objects, videoId);
  return {
    isComplete: false,
    sizeBytes: partsBytes + (tail?.sizeBytes ?? 0),
    multipartId: multipart?.id ?? null,
    parts,
    tailBytes: tail?.sizeBytes ?? 0,
  };
}

export interface AppendOptions {
  offset: number;
  /** Size of the whole recording; null if unknown. When it is reached, the recording is completed. */
  sizeBytes: number | null;
  buffers: PartBuffers;
  /** Aborted if the client disconnects. Ends the wait for disk space. */
  signal: AbortSignal;
}

/**
 * Appends a stream to an upload. Stores all received bytes, even if the stream breaks. Acknowledged bytes are never
 * lost, because a tail is removed only after a part with its bytes is stored.
 * @returns the new size
 */
export async function appendToUpload(
  objects: ObjectStore,
  videoId: string,
  content: AsyncIterable<Buffer>,
  { offset, sizeBytes, buffers, signal }: AppendOptions,
): Promise<number> {
  const begunAt = performance.now();
  const state = (await readUpload(objects, videoId)) ?? NOTHING;
  // The client repeated its last request.
  if (state.isComplete && state.sizeBytes === offset && sizeBytes === offset) return offset;
  if (state.isComplete || state.sizeBytes !== offset) {
    throw new AppError("upload_conflict", `${state.sizeBytes} bytes have been received.`);
  }
  const writing = { ...state, parts: [...state.parts] };
  const part = openPartBuffer(buffers, videoId, signal);
  try {
    let broken: { reason: unknown } | null = null;
    if (state.tailBytes > 0)
      await addToParts(objects, videoId, writing, part, await openTail(objects, videoId, state), buffers);
    try {
      await addToParts(objects, videoId, writing, part, content, buffers);
    } catch (reason) {
      broken = { reason };
    }
    const partsBytes = sumOf(writing.parts);
    const receivedBytes = partsBytes + part.sizeBytes;
    if (receivedBytes === sizeBytes) {
      await withContent(part, videoId, buffers, (rest) => completeRecording(objects, videoId, writing, rest));
    } else if (part.sizeBytes > 0 && receivedBytes > offset) {
      if (broken || performance.now() - begunAt > LOCK_MAY_BE_LOST_AFTER_MS) {
        const leftBytes = partsBytes > sumOf(state.parts) ? partsBytes : offset;
        await assertNoOtherWriter(objects, videoId, leftBytes);
      }
      await withContent(part, videoId, buffers, (tail) => objects.put(tailKey(videoId, partsBytes), tail));
    }
    // Parts now contain the bytes of older tails.
    if (partsBytes > sumOf(state.parts) || receivedBytes === sizeBytes) {
      await removeTails(objects, videoId, receivedBytes === sizeBytes ? null : partsBytes);
    }
    if (broken) throw broken.reason;
    return receivedBytes;
  } finally {
    await part.clear();
  }
}

/** Sends each part as soon as it is full. The remaining bytes stay in the buffer. */
async function addToParts(
  objects: ObjectStore,
  videoId: string,
  writing: UploadState,
  part: PartBuffer,
  content: AsyncIterable<Buffer>,
  buffers: PartBuffers,
): Promise<void> {
  for await (const chunk of content) {
    for (let rest = chunk; rest.length > 0; ) {
      const slice = rest.subarray(0, buffers.partBytes - part.sizeBytes);
      rest = rest.subarray(slice.length);
      await part.append(slice);
      if (part.sizeBytes < buffers.partBytes) continue;
      await withContent(part, videoId, buffers, (full) => addPart(objects, videoId, writing, full));
      await part.clear();
    }
  }
}

/** Waits until there is enough memory for the buffer's content, and passes the content to `use`. */
async function withContent(
  part: PartBuffer,
  videoId: string,
  { sending }: PartBuffers,
  use: (content: Buffer) => Promise<void>,
): Promise<void> {
  const endTurn = await sending.reenter(videoId);
  try {
    await use(await part.read());
  } finally {
    endTurn();
  }
}

/**
 * Throws if another writer may have continued the upload. Call this before a writer that may have lost its lock stores
 * a tail, which could replace a longer one. Parts need no check, because a part that is written twice has the same
 * bytes.
 * @param bytes the size of the upload as this writer knows it
 * @throws AppError `upload_conflict`
 */
async function assertNoOtherWriter(objects: ObjectStore, videoId: string, bytes: number): Promise<void> {
  const { sizeBytes } = (await readUpload(objects, videoId)) ?? NOTHING;
  if (sizeBytes !== bytes) throw new AppError("upload_conflict", `${sizeBytes} bytes have been received.`);
}

/**
 * Completes a recording after all of its bytes have arrived, and removes leftovers of crashes.
 * @throws AppError `storage_object_missing`
 */
export async function completeUpload(objects: ObjectStore, videoId: string): Promise<void> {
  const state = await readUpload(objects, videoId);
  if (!state) throw new AppError("storage_object_missing", "The uploaded recording is missing.");
  if (!state.isComplete) {
    const tail =
      state.tailBytes === 0 ? Buffer.alloc(0) : await buffer(await openTail(objects, videoId, state));
    await completeRecording(objects, videoId, { ...state, parts: [...state.parts] }, tail);
  }
  await objects.multipart.abort(RECORDINGS_PREFIX + videoId);
  await removeTails(objects, videoId, null);
}

/** Removes a complete or incomplete upload. Succeeds if it does not exist. */
export async function removeUpload(objects: ObjectStore, videoId: string): Promise<void> {
  await objects.multipart.abort(RECORDINGS_PREFIX + videoId);
  await objects.remove(RECORDINGS_PREFIX + videoId);
  await removeTails(objects, videoId, null);
}

/** Lists the ids of all videos with stored bytes. May return duplicates. */
export async function* listUploads(objects: ObjectStore): AsyncGenerator<string> {
  for await (const { key } of objects.list(RECORDINGS_PREFIX)) yield key.slice(RECORDINGS_PREFIX.length);
  for await (const { key } of objects.list(TAILS_PREFIX)) yield key.slice(TAILS_PREFIX.length).split("/")[0]!;
  for (const { key } of await objects.multipart.listBelow(RECORDINGS_PREFIX))
    yield key.slice(RECORDINGS_PREFIX.length);
}

const NOTHING: UploadState = {
  isComplete: false,
  sizeBytes: 0,
  multipartId: null,
  parts: [],
  tailBytes: 0,
};

async function readCompleted(objects: ObjectStore, videoId: string): Promise<UploadState | null> {
  const found = await objects.head(RECORDINGS_PREFIX + videoId);
  return found && { ...NOTHING, isComplete: true, sizeBytes: found.sizeBytes };
}

async function addPart(
  objects: ObjectStore,
  videoId: string,
  writing: UploadState,
  content: Buffer,
): Promise<void> {
  const key = RECORDINGS_PREFIX + videoId;
  writing.multipartId ??= await objects.multipart.begin(key);
  const number = (writing.parts.at(-1)?.number ?? 0) + 1;
  writing.parts.push(await objects.multipart.sendPart({ key, id: writing.multipartId }, number, content));
}

async function completeRecording(
  objects: ObjectStore,
  videoId: string,
  writing: UploadState,
  rest: Buffer,
): Promise<void> {
  const key = RECORDINGS_PREFIX + videoId;
  if (writing.multipartId === null) return await objects.put(key, rest);
  if (rest.length > 0) await addPart(objects, videoId, writing, rest);
  try {
    await objects.multipart.complete({ key, id: writing.multipartId }, writing.parts);
  } catch (error) {
    // The response to an earlier completion was lost, or another process has completed the recording.
    const completed = await readCompleted(objects, videoId);
    if (completed?.sizeBytes !== sumOf(writing.parts)) throw error;
  }
}

async function openTail(objects: ObjectStore, videoId: string, state: UploadState): Promise<Readable> {
  return await objects.get(tailKey(videoId, sumOf(state.parts)));
}

/** @param keptStart offset of the tail to keep; null to remove all tails */
async function removeTails(objects: ObjectStore, videoId: string, keptStart: number | null): Promise<void> {
  const kept = keptStart === null ? null : tailKey(videoId, keptStart);
  for await (const { key } of objects.list(tailsOf(videoId))) if (key !== kept) await objects.remove(key);
}

function tailsOf(videoId: string): string {
  return `${TAILS_PREFIX}${videoId}/`;
}

function tailKey(videoId: string, start: number): string {
  return tailsOf(videoId) + start;
}

function sumOf(parts: { sizeBytes: number }[]): number {
  return parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
