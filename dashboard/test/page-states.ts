import type { Page } from "playwright-core";
import { createApiKey } from "../../server/src/api-keys/api-keys.ts";
import { createEnvironment } from "../../server/src/environments/environments.ts";
import { invite } from "../../server/src/operators/invitations.ts";
import { emitEvent } from "../../server/src/webhooks/emit.ts";
import { createWebhookEndpoint } from "../../server/src/webhooks/endpoints.ts";
import { type Dashboard, OWNER } from "./open-dashboard.ts";
import { seedReviewable } from "./seed-reviewable.ts";
import { seedEveryState } from "./seed-videos.ts";

/** Requests that the shell sends on every page. */
export const OF_SHELL = /^\/internal\/(me|environments|environments\/\w+\/videos\/changes)$/;

/** The expected content of a page in one of its states. */
interface Shown {
  /** Defaults to the path of the page with data. */
  path?: string;
  title?: string;
  text: string;
}

export interface PageCase {
  /** Path of the route, with parameters; undefined if there is none. */
  route?: string;
  /** Path of the page with data. */
  path: string;
  title: string;
  full: string;
  /** The title while the page's data is not loaded, if it differs; null if the page needs no data of its own. */
  titleBeforeData?: string | null;
  /** Paths of the requests that load the page's data. Defaults to all requests except the shell's. */
  data?: RegExp;
  empty?: Shown;
  /** What an editor of the empty environment sees; for a page without operators, an outdated link. */
  forbidden?: Shown;
  isSignedOut?: true;
}

const FORBIDDEN = "Your role doesn't include this page.";
const NOT_FOUND = { title: "Page not found", text: "It may have been moved or deleted." };

/** Seeds an environment with data and an empty one, and returns every page with its states. */
export async function seedPages({ service }: Dashboard): Promise<{ pages: PageCase[]; emptyId: string }> {
  const { database, clock, endpointPolicy: policy, operators } = service.parts;
  const deps = { db: database.kysely, clock, policy };
  const [{ id: fullId }, { id: emptyId }] = [
    await createEnvironment(deps, { name: "Production", aiTranscription: true }),
    await createEnvironment(deps, { name: "Staging", aiTranscription: true }),
  ];
  const recorded = { environmentId: fullId, filename: "board-meeting.mp4", recordingSeconds: 20 };
  const { videoId, transcriptionId } = await seedReviewable(service, recorded);
  // An audio-only recording.
  await database.kysely
    .updateTable("transcription")
    .set({ poster_ended_at: clock.now(), poster_levels: "0f".repeat(20) })
    .where("id", "=", transcriptionId)
    .execute();
  await seedEveryState(service, fullId);
  await createApiKey(deps, {
    environmentId: fullId,
    name: "Uploader",
    permissions: ["create_video"],
    expiresAt: null,
  });
  const endpoint = { url: "https://hooks.subtext.example/transcripts", metadata: { team: "web" } };
  const { id: endpointId } = await createWebhookEndpoint(deps, { environmentId: fullId, ...endpoint });
  // The queue is paused, so that nothing is sent.
  await database.kysely.transaction().execute(async (tx) => {
    const about = { id: transcriptionId, environment_id: fullId };
    const sending = { tx, queue: service.parts.queue, now: clock.now() };
    await emitEvent(sending, about, "transcriptions.transcription.completed", {});
  });
  const { id: newEndpointId } = await createWebhookEndpoint(deps, { environmentId: fullId, ...endpoint });
  const { url: joinUrl } = await invite(
    { db: database.kysely, clock, operators },
    { email: "ida@subtext.example", role: "viewer" },
  );

  const pages: PageCase[] = [
    {
      route: "/setup",
      path: "/setup",
      title: "All set up",
      titleBeforeData: "Set up Subtext",
      full: "Subtext is already set up",
      isSignedOut: true,
    },
    {
      route: "/join",
      path: new URL(joinUrl).pathname + new URL(joinUrl).hash,
      title: "Join Subtext",
      full: "You've been invited as a viewer",
      empty: { path: "/join", text: "This invitation link is incomplete" },
      forbidden: { path: "/join#used", text: "This invitation was used or revoked" },
      isSignedOut: true,
    },
    {
      route: "/sign-in",
      path: "/sign-in",
      title: "Sign in",
      titleBeforeData: null,
      full: "Password",
      isSignedOut: true,
    },
    {
      route: "/environments/$environmentId/videos",
      path: `/environments/${fullId}/videos`,
      title: "Videos",
      full: "board-meeting.mp4",
      empty: { path: `/environments/${emptyId}/videos`, text: "No videos yet" },
      forbidden: NOT_FOUND,
    },
    {
      route: "/environments/$environmentId/videos/$videoId",
      path: `/environments/${fullId}/videos/${videoId}`,
      title: "board-meeting.mp4",
      titleBeforeData: "Video",
      full: "Highlight low-confidence words",
      empty: { ...NOT_FOUND, path: `/environments/${fullId}/videos/video_01h455vb4pex5vsknk084sn02q` },
      forbidden: NOT_FOUND,
    },
    {
      route: "/environments/$environmentId/videos/$videoId",
      path: `/environments/${fullId}/videos/${videoId}`,
      title: "board-meeting.mp4",
      data: /\/transcript$/,
      full: "Highlight low-confidence words",
    },
    {
      route: "/environments/$environmentId/search",
      path: `/environments/${fullId}/search?q=budget`,
      title: "Search",
      full: "match",
      empty: { path: `/environments/${emptyId}/search?q=budget`, text: "No results for “budget”" },
      forbidden: NOT_FOUND,
    },
    {
      route: "/environments/$environmentId/api-keys",
      path: `/environments/${fullId}/api-keys`,
      title: "API keys",
      full: "Uploader",
      empty: { path: `/environments/${emptyId}/api-keys`, text: "No API keys yet" },
      forbidden: { path: `/environments/${emptyId}/api-keys`, text: FORBIDDEN },
    },
    {
      route: "/environments/$environmentId/webhooks",
      path: `/environments/${fullId}/webhooks`,
      title: "Webhooks",
      full: endpoint.url,
      empty: { path: `/environments/${emptyId}/webhooks`, text: "No endpoints yet" },
      forbidden: { path: `/environments/${emptyId}/webhooks`, text: FORBIDDEN },
    },
    {
      route: "/environments/$environmentId/webhooks/$endpointId",
      path: `/environments/${fullId}/webhooks/${endpointId}`,
      title: "Webhook endpoint",
      full: "board-meeting.mp4",
      empty: { path: `/environments/${fullId}/webhooks/${newEndpointId}`, text: "No deliveries yet." },
      forbidden: { path: `/environments/${emptyId}/webhooks/${endpointId}`, text: FORBIDDEN },
    },
    {
      route: "/environments/$environmentId/settings",
      path: `/environments/${fullId}/settings`,
      title: "Settings",
      titleBeforeData: null,
      full: "Transcribe new uploads",
      forbidden: { path: `/environments/${emptyId}/settings`, text: FORBIDDEN },
    },
    {
      route: "/system",
      path: "/system",
      title: "System",
      full: "Data folder",
      forbidden: { text: FORBIDDEN },
    },
    {
      route: "/operators",
      path: "/operators",
      title: "Operators",
      full: OWNER.email,
      forbidden: { text: FORBIDDEN },
    },
    {
      route: "/audit",
      path: "/audit",
      title: "Audit log",
      full: "Signed in",
      empty: { path: "/audit?action=webhook_endpoint.disabled", text: "No results" },
      forbidden: { text: FORBIDDEN },
    },
    { route: "/account", path: "/account", title: "Account", full: "This device" },
    {
      path: `/environments/${fullId}/nothing`,
      title: "Page not found",
      titleBeforeData: null,
      full: "It may have been moved or deleted.",
    },
  ];
  return { pages, emptyId };
}

/** @param data see `PageCase` */
export function isDataOf(data: RegExp | undefined) {
  return ({ pathname }: URL) =>
    data ? data.test(pathname) : pathname.startsWith("/internal/") && !OF_SHELL.test(pathname);
}

/**
 * Holds the responses with a page's data.
 * @param data see `PageCase`
 * @returns sends them, and all later ones
 */
export async function holdData(page: Page, data: RegExp | undefined): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(isDataOf(data), async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}
