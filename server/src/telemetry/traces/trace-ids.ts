import { TypeID } from "typeid-js";

/** Hexadecimal, as in the header `traceparent`. */
export interface TraceIds {
  /** 16 bytes. */
  traceId: string;
  /** 8 bytes: the root span's id. */
  rootSpanId: string;
}

/**
 * A transcription's id contains a UUID, which is also the trace id. Every process that has the transcription's job or
 * the delivery of its event therefore continues the same trace. The second half of a UUIDv7 is random except for two
 * bits that are never both zero, as trace ids and their sampling require.
 */
export function traceIdsOf(transcriptionId: string): TraceIds {
  const traceId = Buffer.from(TypeID.fromString(transcriptionId).toUUIDBytes()).toString("hex");
  return { traceId, rootSpanId: traceId.slice(16) };
}
