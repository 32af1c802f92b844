import type { JobTag } from "./fair-queueing.ts";

/** A unit of work, handed to one worker at a time. If the worker is lost, it is handed out again. */
export interface Job {
  /** Only the job that a row names may change the row's state; see `job_id` in the schema. */
  id: string;
  /** The id of a transcription or a delivery. */
  subjectId: string;
  /** Aborted if the queue gives the job to another worker. */
  signal: AbortSignal;
  /** The fair-queueing tag of a transcription's job. Null if a release without fair queueing enqueued it. */
  tag?: JobTag | null;
}

/** A job as the queue hands it to a worker. */
export interface ClaimedJob extends Job {
  /** How often the job was handed out before, to workers that crashed or stopped early. */
  retryCount: number;
}

export type JobHandler = (job: ClaimedJob) => Promise<void>;
