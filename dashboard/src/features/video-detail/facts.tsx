import type { VideoDetailView } from "@subtext/server/admin/contract/video-detail";
import { bytes, clock, language } from "../../ui/format.ts";
import css from "./details.module.css";
import { when } from "./texts.ts";

/** What is known of the recording and its transcript. */
export function Facts({ video }: { video: VideoDetailView }) {
  const { transcription } = video;
  const {
    language: spoken = null,
    duration = null,
    wordCount = null,
    engine = null,
    decoder = null,
    audioTrack = null,
  } = transcription ?? {};
  const heard = transcription?.stretches?.map((stretch) => stretch.language) ?? [];
  const spokenAll = [...new Set([...(spoken === null ? [] : [spoken]), ...heard])];
  const facts: [string, string | null][] = [
    [spokenAll.length > 1 ? "Languages" : "Language", spokenAll.map(language).join(", ") || null],
    ["Duration", duration === null ? null : clock(duration)],
    ["Words", wordCount === null ? null : wordCount.toLocaleString("en")],
    ["Engine", engine],
    ["Decoder", decoder],
    ["Audio track", audioTrack === null ? null : `${audioTrack} (the tracks before it are silent)`],
    ["Size", video.sizeBytes === null ? null : bytes(video.sizeBytes)],
    ["Uploaded", when(video.uploadedAt ?? video.createdAt)],
    [
      "Completed",
      video.state === "completed" && transcription?.finishedAt ? when(transcription.finishedAt) : null,
    ],
    ["Video ID", video.id],
    ["Transcription ID", transcription?.id ?? null],
  ];
  return <FactList facts={facts} />;
}

/** What the uploader told of the recording, apart from what the service knows of it: names may be alike. */
export function Metadata({ video: { metadata } }: { video: VideoDetailView }) {
  const told = Object.entries(metadata).filter(([name]) => name !== "filename");
  return <FactList facts={told.map(([name, value]) => [name, value ?? ""])} />;
}

function FactList({ facts }: { facts: readonly (readonly [name: string, value: string | null])[] }) {
  return (
    <dl className={css.facts}>
      {facts.map(
        ([name, value]) =>
          value !== null && (
            <div key={name}>
              <dt dir="auto">{name}</dt>
              <dd dir="auto">{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
