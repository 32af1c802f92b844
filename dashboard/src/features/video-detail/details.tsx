import type { VideoDetailView } from "@subtext/server/admin/contract/video-detail";
import { Section } from "../../ui/page.tsx";
import { Facts, Metadata } from "./facts.tsx";
import { Attempts, Deliveries, Timeline } from "./processing.tsx";

export function Details({ video }: { video: VideoDetailView }) {
  const { timeline = [], attempts = [], events = [] } = video.transcription ?? {};
  return (
    <>
      <Section title="About">
        <Facts video={video} />
      </Section>
      {Object.keys(video.metadata).some((name) => name !== "filename") && (
        <Section title="Metadata" lead="Metadata sent with the upload.">
          <Metadata video={video} />
        </Section>
      )}
      {timeline.length > 0 && (
        <Section title="Processing">
          <Timeline steps={timeline} />
        </Section>
      )}
      {attempts.length > 0 && (
        <Section title="Attempts">
          <Attempts attempts={attempts} />
        </Section>
      )}
      {events.length > 0 && (
        <Section title="Webhooks">
          <Deliveries events={events} />
        </Section>
      )}
    </>
  );
}
