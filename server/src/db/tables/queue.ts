import type { Generated, GeneratedAlways } from "kysely";

/** Fair-queueing state; see `fair-queueing.ts` for the unit of tags. */
export interface EnvironmentQueueTable {
  environment_id: string;
  weight: Generated<number>;
  finish_tag: Generated<number>;
  /** Queued jobs with this or a later start tag must be retagged; null if there are none. */
  retag_from: number | null;
  /** Moving average of completed transcriptions; null before the first. */
  work_seconds_per_byte: number | null;
}

export interface QueueClockTable {
  only: GeneratedAlways<boolean>;
  /** The largest start tag of all claimed jobs. */
  virtual_time: Generated<number>;
  /** The tag with priority 0. */
  base: Generated<number>;
}
