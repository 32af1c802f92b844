import type { JobTag } from "./fair-queueing.ts";

/** A unit of work for one worker at a time. If the worker is lost, another one gets the job. */
export interface Job {
  /** Only the job whose id is in a row's `job_id` may change the row. */
  id: string;
  /** Id of the transcription, delivery or bulk operation that the job is about. */
  subjectId: string;
  /** Aborted if another worker claims the job. */
  signal: AbortSignal;
  /** Fair-queueing tag of a transcription's job. Null if a release without fair queueing enqueued it. */
  tag?: JobTag | null;
}

export interface ClaimedJob extends Job {
  /** Number of earlier claims. Their workers crashed, or their handlers failed. */
  retryCount: number;
}

export type JobHandler = (job: ClaimedJob) => Promise<void>;
