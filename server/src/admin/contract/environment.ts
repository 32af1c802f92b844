import type { RetentionPolicy } from "../../db/enums.ts";

export interface EnvironmentView {
  id: string;
  name: string;
  aiTranscription: boolean;
  /** Origins of pages that may upload; `*` allows any. */
  allowedOrigins: string[];
  /** Null if everything is kept. */
  retention: RetentionPolicy | null;
  /** Share of the transcription work relative to other environments: 1 to `MAX_WEIGHT`. */
  weight: number;
  /** Names and terms that may be spoken, most important first. */
  vocabulary: string[];
  createdAt: string;
}

export interface RetentionEffectView {
  /** Number of videos that the policy would affect immediately; at most 10,000. */
  videos: number;
}
