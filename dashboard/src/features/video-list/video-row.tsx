import type { VideoView } from "@subtext/server/admin/contract/video";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import {
  formatAgo,
  formatBytes,
  formatClock,
  formatEstimate,
  formatPercent,
  languageName,
} from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import {
  emptyTranscriptText,
  failureText,
  queuePositionText,
  StateBadge,
  skipReasonText,
  videoName,
  WAITING_FOR_MODEL,
} from "../../ui/video-state.tsx";
import css from "./video-row.module.css";

export const VideoRow = memo(function VideoRow({ video, now }: { video: VideoView; now: number }) {
  const { duration = null, wordCount = null, language = null } = video.transcription ?? {};
  const empty = emptyTranscriptText(video.transcription);
  const facts = [
    formatAgo(video.createdAt, now),
    video.sizeBytes !== null && formatBytes(video.sizeBytes),
    duration !== null && formatClock(duration),
    empty ?? (language !== null && languageName(language)),
    empty === null && wordCount !== null && `${wordCount.toLocaleString("en")} words`,
  ];
  return (
    <div className={css.row}>
      <div>
        <h2 className={css.name}>
          <Link
            to="/environments/$environmentId/videos/$videoId"
            params={{ environmentId: video.environmentId, videoId: video.id }}
            data-video=""
          >
            <bdi>{videoName(video)}</bdi>
          </Link>
        </h2>
        <p className={css.facts}>{facts.filter(Boolean).join(" · ")}</p>
      </div>
      <div className={css.state}>
        <StateBadge video={video} />
        <Detail video={video} />
      </div>
    </div>
  );
});

function Detail({ video }: { video: VideoView }) {
  const { state, transcription, sizeBytes, uploadedBytes, queuePosition } = video;
  if (state === "uploading") {
    const share = sizeBytes ? (uploadedBytes ?? 0) / sizeBytes : 0;
    return (
      <>
        <Progress label={`Upload of ${videoName(video)}`} value={share} />
        <span className={css.detail}>
          {sizeBytes === null ? formatBytes(uploadedBytes ?? 0) : formatPercent(share)}
        </span>
      </>
    );
  }
  if (state === "untranscribed") {
    return <span className={css.detail}>AI Transcription was off at upload.</span>;
  }
  if (!transcription) return null;
  if (video.waitsFor === "model") return <span className={css.detail}>{WAITING_FOR_MODEL}</span>;
  if (state === "pending") {
    const failure = transcription.failure && failureText(transcription.failure);
    return (
      <span className={css.detail}>
        {failure && `${failure.problem} Retrying. `}
        {queuePositionText(queuePosition)}
      </span>
    );
  }
  if (state === "processing") {
    const { progress, remainingSeconds } = transcription;
    return (
      <>
        <Progress label={`Transcription of ${videoName(video)}`} value={progress} />
        <span className={css.detail}>
          {formatPercent(progress)}
          {remainingSeconds !== null && `, ${formatEstimate(remainingSeconds)} left`}
        </span>
      </>
    );
  }
  if (state === "failed" && transcription.failure) {
    const { problem, remedy } = failureText(transcription.failure);
    return (
      <span className={css.detail}>
        {problem} {remedy}
      </span>
    );
  }
  if (state === "skipped")
    return <span className={css.detail}>{skipReasonText(transcription.skipReason)}</span>;
  return null;
}
