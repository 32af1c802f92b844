import type { AudioBlock } from "./backend.ts";

/** Element IDs of EBML (RFC 8794) and Matroska (RFC 9559) that ffmpeg writes. */
const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
const BLOCK_GROUP = 0xa0;
const CLUSTER_TIMESTAMP = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
const CONTAINERS = new Set([SEGMENT, CLUSTER, BLOCK_GROUP]);
/** Track number (1 byte), timestamp (2 bytes), flags (1 byte). */
const BLOCK_HEADER_BYTES = 4;
const MAX_ELEMENT_BYTES = 16_000_000;

/**
 * Parses a Matroska stream from ffmpeg with one track of 32-bit float samples and timestamps in milliseconds. Raw samples
 * would have no timestamps.
 * @returns the blocks completed by each chunk of bytes
 */
export async function* readMatroskaBlocks(bytes: AsyncIterable<Buffer>): AsyncGenerator<AudioBlock[]> {
  let pending: Buffer = Buffer.alloc(0);
  let skip = 0;
  let clusterMs = 0;
  for await (const chunk of bytes) {
    const data: Buffer = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    const blocks: AudioBlock[] = [];
    let offset = 0;
    while (true) {
      const skipped = Math.min(skip, data.length - offset);
      offset += skipped;
      skip -= skipped;
      const header = readHeader(data, offset);
      if (header === null) break;
      const begin = offset + header.bytes;
      if (CONTAINERS.has(header.id)) {
        offset = begin;
        continue;
      }
      const isBlock = header.id === SIMPLE_BLOCK || header.id === BLOCK;
      if (!isBlock && header.id !== CLUSTER_TIMESTAMP) {
        skip = header.bytes + header.size;
        continue;
      }
      if (header.size > MAX_ELEMENT_BYTES)
        throw new Error(`a Matroska element of ${header.size} bytes is too large`);
      const end = begin + header.size;
      if (data.length < end) break;
      if (isBlock) {
        const at = (clusterMs + data.readInt16BE(begin + 1)) / 1000;
        blocks.push({ at, samples: toSamples(data.subarray(begin + BLOCK_HEADER_BYTES, end)) });
      } else clusterMs = data.readUIntBE(begin, Math.min(6, header.size));
      offset = end;
    }
    pending = data.subarray(offset);
    yield blocks;
  }
}

/** Copies the bytes, because a Float32Array must be aligned to four bytes. */
export function toSamples(bytes: Buffer): Float32Array {
  const samples = new Float32Array(Math.floor(bytes.length / 4));
  new Uint8Array(samples.buffer).set(bytes.subarray(0, samples.length * 4));
  return samples;
}

interface Header {
  id: number;
  /** Size of the body; 0 if unknown, which is allowed only for containers. */
  size: number;
  /** Size of the header. */
  bytes: number;
}

/** Returns null if more bytes are needed. */
function readHeader(data: Buffer, offset: number): Header | null {
  if (data.length - offset < 2) return null;
  const idBytes = Math.clz32(data[offset]!) - 23;
  if (idBytes > 4) throw new Error("not a Matroska element");
  if (data.length - offset <= idBytes) return null;
  const sizeBytes = Math.clz32(data[offset + idBytes]!) - 23;
  if (sizeBytes > 8) throw new Error("not a Matroska element");
  const bytes = idBytes + sizeBytes;
  if (data.length - offset < bytes) return null;
  let size = data[offset + idBytes]! & (0xff >> sizeBytes);
  let unknown = size === 0xff >> sizeBytes;
  for (let i = offset + idBytes + 1; i < offset + bytes; i++) {
    size = size * 256 + data[i]!;
    unknown &&= data[i] === 0xff;
  }
  return { id: data.readUIntBE(offset, idBytes), size: unknown ? 0 : size, bytes };
}
