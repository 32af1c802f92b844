import { TypeID } from "typeid-js";

/** Hexadecimal, as in the header `traceparent`. */
export interface TraceIds {
  /** 16 bytes. */
  traceId: string;
  /** 8 bytes: of the span that all others of the trace lie below. */
  rootSpanId: string;
}

/**
 * A transcription's id holds a UUID, and that is the id of its trace: so every process that has the transcription's
 * job, or the delivery of its event, continues the one trace. The second half of a UUIDv7 is random but for two bits
 * that are never zero together, as trace ids and their sampling want it.
 */
export function traceIdsOf(transcriptionId: string): TraceIds {
  const traceId = Buffer.from(TypeID.fromString(transcriptionId).toUUIDBytes()).toString("hex");
  return { traceId, rootSpanId: traceId.slice(16) };
}
