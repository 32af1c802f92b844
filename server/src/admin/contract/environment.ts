import type { RetentionPolicy } from "../../db/enums.ts";

export interface EnvironmentView {
  id: string;
  name: string;
  aiTranscription: boolean;
  /** Origins of pages that may upload, or `*` for any. */
  allowedOrigins: string[];
  /** Null keeps everything. */
  retention: RetentionPolicy | null;
  /** Share of the transcription work relative to other environments: 1 to `MAX_WEIGHT`. */
  weight: number;
  createdAt: string;
}

/** `GET /internal/environments/{environment}/retention-effect?days=…&deletes=…` */
export interface RetentionEffectView {
  /** Videos that would be deleted from, or deleted, at once; counted up to 10,000. */
  videos: number;
}
