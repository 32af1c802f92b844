import type { AudioBlock } from "./backend.ts";

/** Element identifiers of EBML (RFC 8794) and Matroska (RFC 9559), as far as ffmpeg's writer needs them. */
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
 * Reads the one track of 32-bit float samples that ffmpeg writes as Matroska to a pipe: raw samples alone
 * would lose where they stand in time. Timestamps are milliseconds (ffmpeg's TimestampScale).
 */
export async function* readMatroskaBlocks(bytes: AsyncIterable<Buffer>): AsyncGenerator<AudioBlock> {
  let pending: Buffer = Buffer.alloc(0);
  let skip = 0;
  let clusterMs = 0;
  for await (const chunk of bytes) {
    let data: Buffer = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    while (true) {
      if (skip > 0) {
        const skipped = Math.min(skip, data.length);
        data = data.subarray(skipped);
        skip -= skipped;
      }
      const header = readHeader(data);
      if (header === null) break;
      if (CONTAINERS.has(header.id)) {
        data = data.subarray(header.bytes);
        continue;
      }
      const isBlock = header.id === SIMPLE_BLOCK || header.id === BLOCK;
      if (!isBlock && header.id !== CLUSTER_TIMESTAMP) {
        skip = header.bytes + header.size;
        continue;
      }
      if (header.size > MAX_ELEMENT_BYTES) throw new Error(`A Matroska block of ${header.size} bytes`);
      if (data.length < header.bytes + header.size) break;
      const body = data.subarray(header.bytes, header.bytes + header.size);
      data = data.subarray(header.bytes + header.size);
      if (isBlock) yield readBlock(body, clusterMs);
      else clusterMs = body.readUIntBE(0, Math.min(6, body.length));
    }
    pending = data;
  }
}

function readBlock(body: Buffer, clusterMs: number): AudioBlock {
  const at = (clusterMs + body.readInt16BE(1)) / 1000;
  return { at, samples: toSamples(body.subarray(BLOCK_HEADER_BYTES)) };
}

/** Copies, because a view of floats must begin at a multiple of four bytes. */
export function toSamples(bytes: Buffer): Float32Array {
  const samples = new Float32Array(Math.floor(bytes.length / 4));
  new Uint8Array(samples.buffer).set(bytes.subarray(0, samples.length * 4));
  return samples;
}

interface Header {
  id: number;
  /** Of the body; 0 for an unknown size, which only containers have. */
  size: number;
  /** Of the header itself. */
  bytes: number;
}

/** Null where more bytes are wanted. */
function readHeader(data: Buffer): Header | null {
  if (data.length < 2) return null;
  const idBytes = Math.clz32(data[0]!) - 23;
  if (idBytes > 4) throw new Error("Not a Matroska element");
  if (data.length <= idBytes) return null;
  const sizeBytes = Math.clz32(data[idBytes]!) - 23;
  if (sizeBytes > 8) throw new Error("Not a Matroska element");
  const bytes = idBytes + sizeBytes;
  if (data.length < bytes) return null;
  let size = data[idBytes]! & (0xff >> sizeBytes);
  let unknown = size === 0xff >> sizeBytes;
  for (let i = idBytes + 1; i < bytes; i++) {
    size = size * 256 + data[i]!;
    unknown &&= data[i] === 0xff;
  }
  return { id: data.readUIntBE(0, idBytes), size: unknown ? 0 : size, bytes };
}
