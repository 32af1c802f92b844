export interface EnvironmentView {
  id: string;
  name: string;
  aiTranscription: boolean;
  /** Origins of pages that may upload, or `*` for any. */
  allowedOrigins: string[];
  /** Null keeps everything. */
  retention: RetentionView | null;
  createdAt: string;
}

export const RETENTION_DELETES = ["recording", "video"] as const;
export const MOST_RETENTION_DAYS = 3650;

/** Old videos are deleted automatically. */
export interface RetentionView {
  /** Since the end of the transcription, or of the upload where there is none; 1 to `MOST_RETENTION_DAYS`. */
  days: number;
  /** The recording alone, so that the transcript stays; or the video with all that came of it. */
  deletes: (typeof RETENTION_DELETES)[number];
}

/** `GET /internal/environments/{environment}/retention-effect?days=…&deletes=…` */
export interface RetentionEffectView {
  /** Videos that would be deleted from, or deleted, at once; counted up to 10,000. */
  videos: number;
}
