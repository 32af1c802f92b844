import type { VideoDetailView } from "@subtext/server/admin/contract/video-detail";
import { useRole } from "../../hooks/use-me.ts";
import { formatBytes, formatDateTime, formatEstimate, formatPercent } from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import {
  failureText,
  queuePositionText,
  skipReasonText,
  videoName,
  WAITING_FOR_MODEL,
} from "../../ui/video-state.tsx";
import css from "./details.module.css";
import type { VideoAddress } from "./queries.ts";
import { RetryTranscription } from "./video-actions.tsx";

/** Explains why the transcript is missing or incomplete. Renders nothing for a complete transcript. */
export function VideoStatus({ address, video }: { address: VideoAddress; video: VideoDetailView }) {
  const canEdit = useRole() !== "viewer";
  const { state, transcription, sizeBytes, uploadedBytes } = video;
  const failure = transcription?.failure ? failureText(transcription.failure) : null;
  if (state === "completed") {
    if (!transcription?.incomplete) return null;
    return (
      <div className={css.state} data-tone="wait">
        <h2>Transcript incomplete</h2>
        <p>The recording is damaged. The parts that could not be decoded are missing from the transcript.</p>
      </div>
    );
  }
  if (state === "uploading") {
    const share = sizeBytes ? (uploadedBytes ?? 0) / sizeBytes : 0;
    return (
      <div className={css.state}>
        <h2>{sizeBytes === null ? "Uploading" : `Uploading, ${formatPercent(share)}`}</h2>
        <Progress label={`Upload of ${videoName(video)}`} value={share} />
        <p>
          {formatBytes(uploadedBytes ?? 0)}
          {sizeBytes !== null && ` of ${formatBytes(sizeBytes)}`}
        </p>
      </div>
    );
  }
  if (video.waitsFor === "model") {
    return (
      <div className={css.state} data-tone="wait">
        <h2>Waiting for a speech model</h2>
        <p>{WAITING_FOR_MODEL}</p>
      </div>
    );
  }
  if (state === "pending") {
    const { queuePosition } = video;
    return (
      <div className={css.state} data-tone="wait">
        <h2>{queuePositionText(queuePosition)}</h2>
        {failure && (
          <p>
            {failure.problem} {failure.remedy} Retrying
            {transcription?.retryAt ? `, not before ${formatDateTime(transcription.retryAt)}.` : "."}
          </p>
        )}
        {!failure && <p>Transcription starts when a worker is free. This page updates automatically.</p>}
      </div>
    );
  }
  if (state === "processing" && transcription) {
    const { progress, remainingSeconds } = transcription;
    return (
      <div className={css.state}>
        <h2>Transcribing, {formatPercent(progress)}</h2>
        <Progress label={`Transcription of ${videoName(video)}`} value={progress} />
        <p>
          {remainingSeconds === null
            ? "Estimating time left…"
            : `${capitalize(formatEstimate(remainingSeconds))} left.`}
        </p>
      </div>
    );
  }
  if (state === "failed") {
    return (
      <div className={css.state} data-tone="bad">
        <h2>Transcription failed</h2>
        {failure && (
          <p>
            {failure.problem} {failure.remedy}
          </p>
        )}
        {canEdit && video.recordingDeletedAt === null && (
          <div className={css.actions}>
            <RetryTranscription address={address} />
          </div>
        )}
      </div>
    );
  }
  return (
    <div className={css.state}>
      <h2>Not transcribed</h2>
      <p>
        {state === "untranscribed"
          ? "AI Transcription was off at upload."
          : skipReasonText(transcription?.skipReason ?? null)}
      </p>
    </div>
  );
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function RecordingDeleted({ at, hasTranscript }: { at: string; hasTranscript: boolean }) {
  return (
    <div className={css.state}>
      <h2>The recording was deleted</h2>
      <p>
        The environment's retention settings deleted it on <time dateTime={at}>{formatDateTime(at)}</time>.{" "}
        {hasTranscript
          ? "The transcript and captions are still available."
          : "It can't be played or transcribed again."}
      </p>
    </div>
  );
}
