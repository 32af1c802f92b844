import type { AttemptFailure } from "./post.ts";
import type { NextStep } from "./schedule.ts";

/** What is told of one attempt of a delivery once it is written down, by the process that made it. */
export interface DeliveryReport {
  deliveryId: string;
  endpointId: string;
  /** What the event is about; null for a test event. */
  transcriptionId: string | null;
  /** From 1. */
  number: number;
  /** When the event was stored. */
  createdAt: Date;
  attemptedAt: Date;
  latencyMs: number;
  /** Null where no response came. */
  status: number | null;
  failure: AttemptFailure | null;
  next: NextStep["kind"];
}
