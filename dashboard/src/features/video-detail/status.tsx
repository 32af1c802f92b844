import type { VideoDetailView } from "@subtext/server/admin/contract/video-detail";
import { useRole } from "../../hooks/use-me.ts";
import { videoDetail as texts } from "../../messages/en/video-detail.ts";
import { videoState } from "../../messages/en/video-state.ts";
import { formatBytes, formatDateTime, formatEstimate, formatPercent } from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import { queueText } from "../../ui/queue-text.ts";
import { RichText } from "../../ui/rich-text.tsx";
import { failureText, skipReasonText, videoName } from "../../ui/video-state.tsx";
import css from "./details.module.css";
import type { VideoAddress } from "./queries.ts";
import { CancelTranscription, RetryTranscription } from "./video-actions.tsx";

/** Explains why the transcript is missing or incomplete. Renders nothing for a complete transcript. */
export function VideoStatus({ address, video }: { address: VideoAddress; video: VideoDetailView }) {
  const canEdit = useRole() !== "viewer";
  const { state, transcription, sizeBytes, uploadedBytes } = video;
  const failure = transcription?.failure ? failureText(transcription.failure) : null;
  if (state === "completed") {
    if (!transcription?.incomplete) return null;
    return (
      <div className={css.state} data-tone="wait">
        <h2>{texts.incomplete}</h2>
        <p>{texts.incompleteHint}</p>
      </div>
    );
  }
  if (state === "uploading") {
    const share = sizeBytes ? (uploadedBytes ?? 0) / sizeBytes : 0;
    return (
      <div className={css.state}>
        <h2>{sizeBytes === null ? texts.uploading : texts.uploadingShare(formatPercent(share))}</h2>
        <Progress label={videoState.uploadOf(videoName(video))} value={share} />
        <p>
          {sizeBytes === null
            ? formatBytes(uploadedBytes ?? 0)
            : videoState.partOf(formatBytes(uploadedBytes ?? 0), formatBytes(sizeBytes))}
        </p>
      </div>
    );
  }
  const cancel = canEdit && (
    <div className={css.actions}>
      <CancelTranscription address={address} />
    </div>
  );
  if (video.waitsFor === "model") {
    return (
      <div className={css.state} data-tone="wait">
        <h2>{texts.waitingForModel}</h2>
        <p>{videoState.waitingForModel}</p>
        {cancel}
      </div>
    );
  }
  if (state === "pending") {
    return (
      <div className={css.state} data-tone="wait">
        <h2>{queueText(video)}</h2>
        {failure && (
          <p>
            {failure.problem} {failure.remedy}{" "}
            {transcription?.retryAt
              ? texts.retryingAt(formatDateTime(transcription.retryAt))
              : texts.retrying}
          </p>
        )}
        {!failure && <p>{texts.startsSoon}</p>}
        {cancel}
      </div>
    );
  }
  if (state === "processing" && transcription) {
    const { progress, remainingSeconds } = transcription;
    return (
      <div className={css.state}>
        <h2>{texts.transcribing(formatPercent(progress))}</h2>
        <Progress label={videoState.transcriptionOf(videoName(video))} value={progress} />
        <p>
          {remainingSeconds === null ? texts.estimating : texts.timeLeft(formatEstimate(remainingSeconds))}
        </p>
        {cancel}
      </div>
    );
  }
  if (state === "failed") {
    const isCanceled = transcription?.failure?.code === "canceled";
    return (
      <div className={css.state} data-tone={isCanceled ? undefined : "bad"}>
        <h2>{isCanceled ? texts.transcriptionCanceled : texts.transcriptionFailed}</h2>
        {failure && isCanceled && <p>{failure.remedy}</p>}
        {failure && !isCanceled && (
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
      <h2>{texts.notTranscribed}</h2>
      <p>
        {state === "untranscribed"
          ? videoState.transcriptionWasOff
          : skipReasonText(transcription?.skipReason ?? null)}
      </p>
    </div>
  );
}

export function RecordingDeleted({ at, hasTranscript }: { at: string; hasTranscript: boolean }) {
  return (
    <div className={css.state}>
      <h2>{texts.recordingDeleted}</h2>
      <p>
        <RichText parts={texts.retentionDeleted(<time dateTime={at}>{formatDateTime(at)}</time>)} />{" "}
        {hasTranscript ? texts.transcriptKept : texts.cannotPlay}
      </p>
    </div>
  );
}
