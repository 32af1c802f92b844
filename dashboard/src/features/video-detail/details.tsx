import type {
  AttemptView,
  EventView,
  TimelineStepView,
  VideoDetailView,
} from "@subtext/server/admin/contract/video-detail";
import { Link } from "@tanstack/react-router";
import { videoDetail as texts } from "../../messages/en/video-detail.ts";
import { formatNumber } from "../../messages/numbers.ts";
import { formatBytes, formatClock, formatDateTime, formatTime, languageName } from "../../ui/format.ts";
import { Section } from "../../ui/page.tsx";
import { RichText } from "../../ui/rich-text.tsx";
import { failureText, videoName } from "../../ui/video-state.tsx";
import css from "./details.module.css";
import { deliveryText, formatElapsed, hostOf, stepName } from "./texts.ts";

export function Details({ video }: { video: VideoDetailView }) {
  const { timeline = [], attempts = [], events = [] } = video.transcription ?? {};
  return (
    <>
      <Section title={texts.about}>
        <Facts video={video} />
        {video.sourceVideo && (
          <p>
            <RichText
              parts={texts.copyOf(
                <Link
                  to="/environments/$environmentId/videos/$videoId"
                  params={{ environmentId: video.environmentId, videoId: video.sourceVideo.id }}
                  dir="auto"
                >
                  {videoName(video.sourceVideo)}
                </Link>,
              )}
            />
          </p>
        )}
      </Section>
      {Object.keys(video.metadata).some((name) => name !== "filename") && (
        <Section title={texts.metadata} description={texts.metadataHint}>
          <Metadata video={video} />
        </Section>
      )}
      {timeline.length > 0 && (
        <Section title={texts.processing}>
          <Timeline steps={timeline} />
        </Section>
      )}
      {attempts.length > 0 && (
        <Section title={texts.attempts}>
          <Attempts attempts={attempts} />
        </Section>
      )}
      {events.length > 0 && (
        <Section title={texts.webhooks}>
          <Deliveries events={events} />
        </Section>
      )}
    </>
  );
}

function Facts({ video }: { video: VideoDetailView }) {
  const { transcription } = video;
  const {
    language = null,
    duration = null,
    wordCount = null,
    engine = null,
    decoder = null,
    audioTrack = null,
  } = transcription ?? {};
  const segmentLanguages = transcription?.languageSegments?.map((segment) => segment.language) ?? [];
  const languages = [...new Set([...(language === null ? [] : [language]), ...segmentLanguages])];
  const facts: [string, string | null][] = [
    [languages.length > 1 ? texts.languages : texts.language, languages.map(languageName).join(", ") || null],
    [texts.duration, duration === null ? null : formatClock(duration)],
    [texts.words, wordCount === null ? null : formatNumber(wordCount)],
    [texts.engine, engine],
    [texts.decoder, decoder],
    [texts.audioTrack, audioTrack === null ? null : texts.laterTrack(audioTrack)],
    [texts.size, video.sizeBytes === null ? null : formatBytes(video.sizeBytes)],
    [texts.uploaded, formatDateTime(video.uploadedAt ?? video.createdAt)],
    [
      texts.completed,
      video.state === "completed" && transcription?.finishedAt
        ? formatDateTime(transcription.finishedAt)
        : null,
    ],
    [texts.videoId, video.id],
    [texts.transcriptionId, transcription?.id ?? null],
  ];
  return <FactList facts={facts} />;
}

/** A separate list, because names of metadata may collide with names of facts. */
function Metadata({ video: { metadata } }: { video: VideoDetailView }) {
  const entries = Object.entries(metadata).filter(([name]) => name !== "filename");
  return <FactList facts={entries.map(([name, value]) => [name, value ?? ""])} />;
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

function Timeline({ steps }: { steps: readonly TimelineStepView[] }) {
  const [first] = steps;
  if (!first) return null;
  const start = Date.parse(first.at);
  // Deliveries may be retried for days, which would make the other bars invisible.
  const last = steps.findLast(({ step }) => step !== "delivered") ?? first;
  const totalSeconds = Math.max(0.001, (Date.parse(last.at) - start) / 1000);
  const percent = (seconds: number) => `${Math.min(100, Math.max(0, (seconds / totalSeconds) * 100))}%`;
  return (
    <ol className={css.timeline}>
      {steps.map((step) => {
        const seconds = step.seconds ?? 0;
        const end = Math.min(totalSeconds, (Date.parse(step.at) - start) / 1000);
        return (
          <li key={`${step.step} ${step.endpointUrl ?? ""}`} data-step={step.step}>
            <span className={css.stepName} title={stepName(step)}>
              {stepName(step)}
            </span>
            <span className={css.stepBar} aria-hidden="true">
              <span style={{ left: percent(end - seconds), width: percent(seconds) }} />
            </span>
            <time className={css.stepTime} dateTime={step.at} title={formatDateTime(step.at)}>
              {step.seconds === null ? formatTime(step.at) : formatElapsed(seconds)}
            </time>
          </li>
        );
      })}
    </ol>
  );
}

function Attempts({ attempts }: { attempts: readonly AttemptView[] }) {
  return (
    <ol className={css.lines}>
      {attempts.map(({ number, begunBy, startedAt, endedAt, outcome, failure }) => (
        <li key={number} data-outcome={outcome ?? "running"}>
          <p className={css.lineHead}>
            <strong>
              {number}. {outcome ? texts.outcomes[outcome] : texts.running}
            </strong>
            <span>
              {texts.reasons[begunBy]}, {formatDateTime(startedAt)}
              {endedAt &&
                `, ${texts.took(formatElapsed((Date.parse(endedAt) - Date.parse(startedAt)) / 1000))}`}
            </span>
          </p>
          {failure && (
            <p className={css.reason}>
              {failureText(failure).problem} <code>{failure.code}</code>
              {failure.message && (
                <span className={css.message} lang="en">
                  {failure.message}
                </span>
              )}
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

function Deliveries({ events }: { events: readonly EventView[] }) {
  return (
    <ul className={css.lines}>
      {events.map(({ id, type, createdAt, deliveries }) => (
        <li key={id}>
          <p className={css.lineHead}>
            <strong>{type}</strong>
            <time dateTime={createdAt}>{formatDateTime(createdAt)}</time>
          </p>
          {deliveries.length === 0 && <p className={css.reason}>{texts.noEndpoint}</p>}
          {deliveries.map((delivery) => (
            <p key={delivery.id} className={css.delivery} data-status={delivery.status}>
              <span title={delivery.endpointUrl}>{hostOf(delivery.endpointUrl)}</span>
              <span>{deliveryText(delivery)}</span>
            </p>
          ))}
        </li>
      ))}
    </ul>
  );
}
