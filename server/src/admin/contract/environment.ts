import type { RetentionPolicy } from "../../db/enums.ts";

/** The part of an environment that every role in it may read. */
export interface EnvironmentSummaryView {
  id: string;
  name: string;
  aiTranscription: boolean;
  createdAt: string;
}

/** Includes the settings, which editors may not read. */
export interface EnvironmentView extends EnvironmentSummaryView {
  /** Origins of pages that may upload; `*` allows any. */
  allowedOrigins: string[];
  /** Null if everything is kept. */
  retention: RetentionPolicy | null;
  /** Share of the transcription work relative to other environments: 1 to `MAX_WEIGHT`. */
  weight: number;
  /** Names and terms that may be spoken, most important first. */
  vocabulary: string[];
}

/** Counting stops at this number of videos. */
export const MAX_COUNTED_DUE = 10_000;

export interface RetentionEffectView {
  /** Number of videos that the policy would affect immediately; at most `MAX_COUNTED_DUE`. */
  videos: number;
}
