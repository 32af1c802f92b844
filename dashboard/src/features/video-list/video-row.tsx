import type { VideoView } from "@subtext/server/admin/contract/video";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import {
  ago,
  bytes,
  clock,
  emptyTranscript,
  failureInWords,
  language,
  placeInQueue,
  roughly,
  skipInWords,
  WAITS_FOR_MODEL,
} from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import { StateBadge } from "../../ui/video-state.tsx";
import css from "./video-row.module.css";

export function videoName({ filename, id }: Pick<VideoView, "filename" | "id">): string {
  return filename ?? id;
}

export const VideoRow = memo(function VideoRow({ video, now }: { video: VideoView; now: number }) {
  const { duration = null, wordCount = null, language: spoken = null } = video.transcription ?? {};
  const empty = emptyTranscript(video.transcription);
  const facts = [
    ago(video.createdAt, now),
    video.sizeBytes !== null && bytes(video.sizeBytes),
    duration !== null && clock(duration),
    empty ?? (spoken !== null && language(spoken)),
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

/** What else is to be said of the state: how far, how long, why, and what to do. */
function Detail({ video }: { video: VideoView }) {
  const { state, transcription, sizeBytes, uploadedBytes, queuePlace } = video;
  if (state === "uploading") {
    const share = sizeBytes ? (uploadedBytes ?? 0) / sizeBytes : 0;
    return (
      <>
        <Progress name={`Upload of ${videoName(video)}`} share={share} />
        <span className={css.detail}>
          {sizeBytes === null ? bytes(uploadedBytes ?? 0) : `${Math.floor(share * 100)}%`}
        </span>
      </>
    );
  }
  if (state === "untranscribed") {
    return <span className={css.detail}>AI Transcription was off at upload.</span>;
  }
  if (!transcription) return null;
  if (video.waitsFor === "model") return <span className={css.detail}>{WAITS_FOR_MODEL}</span>;
  if (state === "pending") {
    const failure = transcription.failure && failureInWords(transcription.failure);
    return (
      <span className={css.detail}>
        {failure && `${failure.what} Retrying. `}
        {placeInQueue(queuePlace)}
      </span>
    );
  }
  if (state === "processing") {
    const { progress, remainingSeconds } = transcription;
    return (
      <>
        <Progress name={`Transcription of ${videoName(video)}`} share={progress} />
        <span className={css.detail}>
          {Math.floor(progress * 100)}%{remainingSeconds !== null && `, ${roughly(remainingSeconds)} left`}
        </span>
      </>
    );
  }
  if (state === "failed" && transcription.failure) {
    const { what, remedy } = failureInWords(transcription.failure);
    return (
      <span className={css.detail}>
        {what} {remedy}
      </span>
    );
  }
  if (state === "skipped") return <span className={css.detail}>{skipInWords(transcription.skipReason)}</span>;
  return null;
}
