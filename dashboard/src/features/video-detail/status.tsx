import type { VideoDetailView } from "@subtext/server/admin/contract/video-detail";
import { useMe } from "../../hooks/use-me.ts";
import {
  bytes,
  failureInWords,
  placeInQueue,
  roughly,
  skipInWords,
  WAITS_FOR_MODEL,
} from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import { videoName } from "../video-list/video-row.tsx";
import css from "./details.module.css";
import type { VideoAddress } from "./queries.ts";
import { when } from "./texts.ts";
import { Reprocess } from "./video-actions.tsx";

/** What is to be said of a video that has no transcript yet, or none that is whole. */
export function VideoProgress({ address, video }: { address: VideoAddress; video: VideoDetailView }) {
  const { isOwner } = useMe();
  const { state, transcription, sizeBytes, uploadedBytes } = video;
  const failure = transcription?.failure ? failureInWords(transcription.failure) : null;
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
        <h2>{sizeBytes === null ? "Uploading" : `Uploading, ${Math.floor(share * 100)}%`}</h2>
        <Progress name={`Upload of ${videoName(video)}`} share={share} />
        <p>
          {bytes(uploadedBytes ?? 0)}
          {sizeBytes !== null && ` of ${bytes(sizeBytes)}`}
        </p>
      </div>
    );
  }
  if (video.waitsFor === "model") {
    return (
      <div className={css.state} data-tone="wait">
        <h2>Waiting for a speech model</h2>
        <p>{WAITS_FOR_MODEL}</p>
      </div>
    );
  }
  if (state === "pending") {
    const { queuePlace } = video;
    return (
      <div className={css.state} data-tone="wait">
        <h2>{placeInQueue(queuePlace)}</h2>
        {failure && (
          <p>
            {failure.what} {failure.remedy} Retrying
            {transcription?.retryAt ? `, not before ${when(transcription.retryAt)}.` : "."}
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
        <h2>Transcribing, {Math.floor(progress * 100)}%</h2>
        <Progress name={`Transcription of ${videoName(video)}`} share={progress} />
        <p>
          {remainingSeconds === null
            ? "Estimating time left…"
            : `${capital(roughly(remainingSeconds))} left.`}
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
            {failure.what} {failure.remedy}
          </p>
        )}
        {isOwner && video.recordingDeletedAt === null && (
          <div className={css.actions}>
            <Reprocess address={address} />
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
          : skipInWords(transcription?.skipReason ?? null)}
      </p>
    </div>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
