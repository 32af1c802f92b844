import type { AudioBlock } from "./backend.ts";

/** Element identifiers of EBML (RFC 8794) and Matroska (RFC 9559) that ffmpeg's writer uses. */
const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
const BLOCK_GROUP = 0xa0;
const CLUSTER_TIMESTAMP = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
const CONTAINERS = new Set([SEGMENT, CLUSTER, BLOCK_GROUP]);
/** Track number (1 byte for track 1), timestamp (2), flags (1). */
const BLOCK_HEADER_BYTES = 4;
const MAX_ELEMENT_BYTES = 16_000_000;

/**
 * Parses the single track of 32-bit float samples that ffmpeg writes as Matroska to a pipe; raw samples would
 * lose their timestamps. Timestamps are milliseconds (ffmpeg's TimestampScale).
 * @returns the blocks completed by each chunk of bytes
 */
export async function* readMatroskaBlocks(bytes: AsyncIterable<Buffer>): AsyncGenerator<AudioBlock[]> {
  let pending: Buffer = Buffer.alloc(0);
  let skip = 0;
  let clusterMs = 0;
  for await (const chunk of bytes) {
    const data: Buffer = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    const blocks: AudioBlock[] = [];
    let place = 0;
    while (true) {
      const skipped = Math.min(skip, data.length - place);
      place += skipped;
      skip -= skipped;
      const header = readHeader(data, place);
      if (header === null) break;
      const begin = place + header.bytes;
      if (CONTAINERS.has(header.id)) {
        place = begin;
        continue;
      }
      const isBlock = header.id === SIMPLE_BLOCK || header.id === BLOCK;
      if (!isBlock && header.id !== CLUSTER_TIMESTAMP) {
        skip = header.bytes + header.size;
        continue;
      }
      if (header.size > MAX_ELEMENT_BYTES) throw new Error(`A Matroska block of ${header.size} bytes`);
      const end = begin + header.size;
      if (data.length < end) break;
      if (isBlock) {
        const at = (clusterMs + data.readInt16BE(begin + 1)) / 1000;
        blocks.push({ at, samples: toSamples(data.subarray(begin + BLOCK_HEADER_BYTES, end)) });
      } else clusterMs = data.readUIntBE(begin, Math.min(6, header.size));
      place = end;
    }
    pending = data.subarray(place);
    yield blocks;
  }
}

/** Copies, because a Float32Array must begin at a multiple of four bytes. */
export function toSamples(bytes: Buffer): Float32Array {
  const samples = new Float32Array(Math.floor(bytes.length / 4));
  new Uint8Array(samples.buffer).set(bytes.subarray(0, samples.length * 4));
  return samples;
}

interface Header {
  id: number;
  /** Of the body; 0 if unknown, which only containers may be. */
  size: number;
  /** Of the header itself. */
  bytes: number;
}

/**
 * Returns null if more bytes are needed.
 * @param place of its first byte
 */
function readHeader(data: Buffer, place: number): Header | null {
  if (data.length - place < 2) return null;
  const idBytes = Math.clz32(data[place]!) - 23;
  if (idBytes > 4) throw new Error("Not a Matroska element");
  if (data.length - place <= idBytes) return null;
  const sizeBytes = Math.clz32(data[place + idBytes]!) - 23;
  if (sizeBytes > 8) throw new Error("Not a Matroska element");
  const bytes = idBytes + sizeBytes;
  if (data.length - place < bytes) return null;
  let size = data[place + idBytes]! & (0xff >> sizeBytes);
  let unknown = size === 0xff >> sizeBytes;
  for (let i = place + idBytes + 1; i < place + bytes; i++) {
    size = size * 256 + data[i]!;
    unknown &&= data[i] === 0xff;
  }
  return { id: data.readUIntBE(place, idBytes), size: unknown ? 0 : size, bytes };
}
