import type { JobTag } from "./fair-queueing.ts";

/** A unit of work, handed to one worker at a time. If the worker is lost, it is handed out again. */
export interface Job {
  /** A row names the one job that may change its state; see `job_id` in the schema. */
  id: string;
  /** The id of a transcription or a delivery. */
  subjectId: string;
  /** Aborted if the queue takes the job away from this worker. */
  signal: AbortSignal;
  /** Of a transcription's job; null if a release before fair queueing enqueued it. */
  tag?: JobTag | null;
}

/** As the queue hands it to a worker. */
export interface HandedJob extends Job {
  /** How often it was handed out before, to workers that crashed or stopped early. */
  cameBack: number;
}

export type JobHandler = (job: HandedJob) => Promise<void>;
