import { TypeID } from "typeid-js";

/** Hexadecimal, as in the header `traceparent`. */
export interface TraceIds {
  /** 16 bytes. */
  traceId: string;
  /** 8 bytes. */
  rootSpanId: string;
}

/**
 * Derives the trace id from the UUID in the transcription's id, so that all processes that work on a transcription or
 * its deliveries continue the same trace. The span id is the second half of the UUIDv7, which is random and never zero.
 */
export function traceIdsOf(transcriptionId: string): TraceIds {
  const traceId = Buffer.from(TypeID.fromString(transcriptionId).toUUIDBytes()).toString("hex");
  return { traceId, rootSpanId: traceId.slice(16) };
}
