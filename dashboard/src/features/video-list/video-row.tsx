import type { VideoView } from "@subtext/server/admin/contract/video";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { videoList as texts } from "../../messages/en/video-list.ts";
import { videoState } from "../../messages/en/video-state.ts";
import { formatNumber } from "../../messages/numbers.ts";
import {
  formatAgo,
  formatBytes,
  formatClock,
  formatDateTime,
  formatEstimate,
  formatPercent,
  languageName,
} from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import { queueText } from "../../ui/queue-text.ts";
import {
  emptyTranscriptText,
  failureText,
  StateBadge,
  skipReasonText,
  videoName,
} from "../../ui/video-state.tsx";
import { COLUMNS } from "./columns.ts";
import { Poster } from "./poster.tsx";
import css from "./video-row.module.css";

/** The cells of a row. The second line of the first cell says what matters most about the video now. */
export const VideoRow = memo(function VideoRow({ video, now }: { video: VideoView; now: number }) {
  const { state, transcription, sizeBytes, uploadedBytes } = video;
  const { duration = null, wordCount = null, language = null, progress = 0 } = transcription ?? {};
  const detail = detailOf(video);
  const name = videoName(video);
  const link = {
    to: "/environments/$environmentId/videos/$videoId",
    params: { environmentId: video.environmentId, videoId: video.id },
  } as const;
  return (
    <>
      {/* Hidden, because the name next to it has the same link. */}
      <td className={css.poster} aria-hidden="true">
        <Link {...link} tabIndex={-1}>
          <Poster video={video} />
        </Link>
      </td>
      <td className={css.name}>
        <div className={css.title}>
          <Link {...link} data-video={video.id} title={name}>
            <bdi>{name}</bdi>
          </Link>
        </div>
        <div className={css.detail} title={detail}>
          {detail}
        </div>
      </td>
      <td className={css.state}>
        <StateBadge video={video} />
        {state === "uploading" && (
          <Progress
            label={videoState.uploadOf(name)}
            value={sizeBytes ? (uploadedBytes ?? 0) / sizeBytes : 0}
          />
        )}
        {state === "processing" && <Progress label={videoState.transcriptionOf(name)} value={progress} />}
      </td>
      <td className={css.cell}>{language !== null && languageName(language)}</td>
      <td className={`${css.cell} ${css.number}`}>{duration !== null && formatClock(duration)}</td>
      <td className={`${css.cell} ${css.number}`}>
        {wordCount !== null && (
          <>
            {formatNumber(wordCount)}
            <span className={css.unit}> {texts.wordUnit(wordCount)}</span>
          </>
        )}
      </td>
      <td className={css.cell}>
        <time dateTime={video.createdAt} title={formatDateTime(video.createdAt)}>
          {formatAgo(video.createdAt, now)}
        </time>
      </td>
    </>
  );
});

export function SkeletonCells() {
  return (
    <>
      <td className={`${css.poster} ${css.box}`} />
      {COLUMNS.map(({ name }) => (
        <td key={name} className={css.bar} />
      ))}
    </>
  );
}

function detailOf(video: VideoView): string {
  const { state, transcription, sizeBytes, uploadedBytes } = video;
  const size = sizeBytes === null ? "" : formatBytes(sizeBytes);
  if (state === "uploading") {
    if (sizeBytes === null) return formatBytes(uploadedBytes ?? 0);
    return videoState.partOf(formatPercent(sizeBytes === 0 ? 0 : (uploadedBytes ?? 0) / sizeBytes), size);
  }
  if (state === "untranscribed") return videoState.transcriptionWasOff;
  if (!transcription) return size;
  if (video.waitsFor === "model") return videoState.waitingForModel;
  if (state === "pending") {
    const failure = transcription.failure && failureText(transcription.failure);
    return `${failure ? `${failure.problem} ${texts.retrying} ` : ""}${queueText(video)}`;
  }
  if (state === "processing") {
    const { progress, remainingSeconds } = transcription;
    const left = remainingSeconds === null ? "" : `, ${videoState.left(formatEstimate(remainingSeconds))}`;
    return formatPercent(progress) + left;
  }
  if (state === "failed" && transcription.failure) {
    const { problem, remedy } = failureText(transcription.failure);
    return `${problem} ${remedy}`;
  }
  if (state === "skipped") return skipReasonText(transcription.skipReason);
  return emptyTranscriptText(transcription) ?? size;
}
