import { beforeAll, expect, test } from "vitest";
import { createEnvironment } from "../../server/src/environments/environments.ts";
import { newJobId } from "../../server/src/queue/queue.ts";
import { enqueue } from "../../server/src/queue/transcription-jobs.ts";
import { emitEvent } from "../../server/src/webhooks/emit.ts";
import { createWebhookEndpoint } from "../../server/src/webhooks/endpoints.ts";
import { seedSearchable } from "../../server/test/support/seed-transcript.ts";
import { createOwner, OWNER, openDashboard, signIn } from "./open-dashboard.ts";
import { LOCAL_WEBHOOKS } from "./screenshots/integrations.ts";

const dashboard = openDashboard(LOCAL_WEBHOOKS);

const WORDS = 30_000;
const SENTENCE = "naïve captions follow every word that people say today.";

interface State {
  language: string | null;
  text: string;
  /** Columns that differ from those of a completed transcription. */
  transcription?: Record<string, unknown>;
  video?: Record<string, unknown>;
  isDeleted?: true;
  /** Tone of the state badge. */
  tone?: "good" | "wait";
  /** Texts that the list of videos and the video page show. */
  onList: string;
  onPage: string;
}

const UNFINISHED = { file_prefix: null, word_count: null, duration: null, finished_at: null };

const STATES: Record<string, State> = {
  "no speech": { language: "zxx", text: "", onList: "No speech detected", onPage: "No speech detected." },
  "no words in a language that was not recognized": {
    language: "und",
    text: "",
    onList: "Language not recognized – no transcript",
    onPage: "Language not recognized – no transcript.",
    tone: "wait",
  },
  "words in a language that was not recognized": {
    language: "und",
    text: SENTENCE,
    tone: "good",
    onList: "Language not recognized",
    onPage: "naïve captions follow",
  },
  "3 hours with 30,000 words": {
    language: "en",
    text: Array.from({ length: WORDS / 10 }, () => `${SENTENCE} Really.`).join(" "),
    transcription: { duration: 3 * 3600 },
    onList: "30,000",
    onPage: "naïve captions follow",
  },
  SKIPPED: {
    language: null,
    text: "",
    transcription: { ...UNFINISHED, status: "SKIPPED", skip_reason: "no_audio_track" },
    onList: "No audio track.",
    onPage: "No audio track.",
  },
  FAILED: {
    language: null,
    text: "",
    transcription: {
      ...UNFINISHED,
      status: "FAILED",
      failure_code: "unreadable_media",
      failure_message: "The file contains neither audio nor video.",
    },
    onList: "Upload the original again.",
    onPage: "Transcription failed",
  },
  PENDING: {
    language: null,
    text: "",
    transcription: { ...UNFINISHED, status: "PENDING" },
    onList: "Next in queue",
    onPage: "Next in queue",
  },
  PROCESSING: {
    language: null,
    text: "",
    transcription: { ...UNFINISHED, status: "PROCESSING" },
    onList: "0%",
    onPage: "Transcribing, 0%",
  },
  "a deleted recording": {
    language: "en",
    text: SENTENCE,
    video: { recording_deleted_at: new Date() },
    onList: "English",
    onPage: "The recording was deleted",
  },
  "a deleted video": {
    language: "en",
    text: SENTENCE,
    isDeleted: true,
    onList: "No videos yet",
    onPage: "Page not found",
  },
};

interface Seeded {
  environmentId: string;
  videoId: string;
  endpointId: string;
}

beforeAll(async () => {
  await createOwner(dashboard);
});

async function seed(name: string, state: State): Promise<Seeded> {
  const {
    database,
    clock,
    queue,
    endpointPolicy: policy,
    config,
    commandLineToken,
  } = dashboard.service.parts;
  const db = database.kysely;
  const now = clock.now();
  // Pending videos must stay pending.
  await queue.pause();
  const { id: environmentId } = await createEnvironment(
    { db, clock },
    { name: name.slice(0, 100), aiTranscription: true },
  );
  // Nothing listens on this port.
  const endpoint = { environmentId, url: "http://127.0.0.1:9/", metadata: {} };
  const { id: endpointId } = await createWebhookEndpoint({ db, clock, policy }, endpoint);
  const { videoId, transcriptionId } = await seedSearchable(dashboard.service, {
    environmentId,
    language: state.language ?? "en",
    text: state.text,
  });
  await db.transaction().execute(async (tx) => {
    const about = { id: transcriptionId, environment_id: environmentId };
    await emitEvent({ tx, queue, now }, about, "transcriptions.transcription.completed", {});
    await tx
      .updateTable("transcription")
      .set({ language: state.language, ...state.transcription })
      .where("id", "=", transcriptionId)
      .execute();
    if (state.transcription?.status === "PENDING") {
      const jobId = newJobId();
      await tx
        .updateTable("transcription")
        .set({ job_id: jobId })
        .where("id", "=", transcriptionId)
        .execute();
      await enqueue({ tx, queue }, { jobId, transcriptionId, environmentId });
    }
    if (state.video) await tx.updateTable("video").set(state.video).where("id", "=", videoId).execute();
  });
  if (state.isDeleted) {
    const url = `${config.publicUrl}/internal/environments/${environmentId}/videos/${videoId}`;
    await fetch(url, { method: "DELETE", headers: { authorization: `Bearer ${commandLineToken}` } });
  }
  return { environmentId, videoId, endpointId };
}

/** Returns every page of the environment with its heading and a text that is visible when it has loaded. */
function visitsFor(
  { environmentId, videoId, endpointId }: Seeded,
  { text, onList, onPage, isDeleted }: State,
) {
  const at = (path: string, title: string, shows: string | RegExp) => ({
    path: `/environments/${environmentId}${path}`,
    title,
    shows,
  });
  return [
    at("/videos", "Videos", onList),
    at(`/videos/${videoId}`, isDeleted ? "Page not found" : "made.mp4", onPage),
    at(
      "/search?q=captions",
      "Search",
      text === "" || isDeleted ? "No results for “captions”" : /match(es)? in 1 video/,
    ),
    at("/webhooks", "Webhooks", "127.0.0.1:9"),
    at(`/webhooks/${endpointId}`, "Webhook endpoint", "Completed"),
    at("/api-keys", "API keys", "No API keys yet"),
    at("/settings", "Settings", "AI Transcription"),
    { path: "/system", title: "System", shows: "Videos per hour" },
    { path: "/audit", title: "Audit log", shows: "Signed in" },
  ];
}

test.each(Object.entries(STATES))("every page shows an environment with %s", async (name, state) => {
  const visits = visitsFor(await seed(name, state), state);
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  for (const { path, title, shows } of visits) {
    await page.goto(`${dashboard.url}${path}`);
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    await page.getByText(shows).filter({ visible: true }).first().waitFor();
    expect(await page.getByText("Something went wrong").count(), path).toBe(0);
    if (title !== "made.mp4" || !state.tone) continue;
    await page.locator(`[data-tone="${state.tone}"]`, { hasText: /^Completed$/ }).waitFor();
  }
  expect(dashboard.errors).toEqual([]);
});
