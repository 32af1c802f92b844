import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { VIDEO_STATES, type VideoState } from "./contract/video.ts";
import { readAuditFilter } from "./data/audit.ts";
import { backTo, saysSignedOut } from "./data/ended-session.ts";
import { environmentsQuery, meQuery } from "./data/queries.ts";
import { readSearchAddress } from "./data/search.ts";
import { AccountPage } from "./pages/account.tsx";
import { FaultPage, NotFoundPage } from "./pages/fault.tsx";
import { FirstEnvironmentPage } from "./pages/first-environment.tsx";
import { JoinPage } from "./pages/join.tsx";
import { OperatorsPage } from "./pages/operators.tsx";
import { SetUpPage } from "./pages/set-up.tsx";
import { SettingsPage } from "./pages/settings.tsx";
import { SignInPage } from "./pages/sign-in.tsx";
import { SystemPage } from "./pages/system.tsx";
import { VideosPage } from "./pages/videos.tsx";
import { lastEnvironment } from "./parts/last-environment.ts";
import { Loading } from "./parts/page.tsx";
import { Shell } from "./parts/shell.tsx";
import { readDeliveryFilter } from "./parts/webhooks/delivery-filter.ts";

interface RouterContext {
  queryClient: QueryClient;
}

const rootRoute = createRootRouteWithContext<RouterContext>()({
  staticData: { page: "Subtext" },
  component: Outlet,
});

const setUpRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/set-up",
  staticData: { page: "Setup" },
  component: SetUpPage,
});

const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/join",
  staticData: { page: "Join" },
  component: JoinPage,
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  staticData: { page: "Sign in" },
  validateSearch: ({ next }: Record<string, unknown>): { next?: string } =>
    // Only a page of this dashboard, or a link could lead elsewhere after the sign-in.
    typeof next === "string" && /^\/(?![/\\])/.test(next) ? { next } : {},
  component: SignInPage,
});

const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "signed-in",
  staticData: { page: "Subtext" },
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queryClient.ensureQueryData(meQuery);
    } catch (error) {
      if (!saysSignedOut(error)) throw error;
      throw redirect({ to: "/sign-in", search: backTo(location.href) });
    }
  },
  component: Shell,
});

const homeRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/",
  staticData: { page: "Home" },
  beforeLoad: async ({ context }) => {
    const environments = await context.queryClient.fetchQuery(environmentsQuery);
    const environment = environments.find(({ id }) => id === lastEnvironment()) ?? environments[0];
    if (!environment) return;
    const params = { environmentId: environment.id };
    throw redirect({ to: "/environments/$environmentId/videos", params, replace: true });
  },
  component: FirstEnvironmentPage,
});

const environmentRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/environments/$environmentId",
  staticData: { page: "Environment" },
  loader: ({ context }) => context.queryClient.ensureQueryData(environmentsQuery),
  component: Outlet,
});

const videosRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/videos",
  staticData: { page: "Videos" },
  validateSearch: ({ state }: Record<string, unknown>): { state?: VideoState } => {
    const known = VIDEO_STATES.find((each) => each === state);
    return known ? { state: known } : {};
  },
  component: VideosPage,
});

const videoRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/videos/$videoId",
  staticData: { page: "Video" },
  /** `t`: seconds, where the player begins. */
  validateSearch: ({ t }: Record<string, unknown>): { t?: number } => {
    const seconds = Number(t);
    return t !== undefined && Number.isFinite(seconds) && seconds >= 0 ? { t: seconds } : {};
  },
  component: lazyRouteComponent(() => import("./pages/video.tsx"), "VideoPage"),
});

const searchRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/search",
  staticData: { page: "Search" },
  validateSearch: readSearchAddress,
  component: lazyRouteComponent(() => import("./pages/search.tsx"), "SearchPage"),
});

const apiKeysRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/api-keys",
  staticData: { page: "API keys" },
  component: lazyRouteComponent(() => import("./pages/api-keys.tsx"), "ApiKeysPage"),
});

const webhooksRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/webhooks",
  staticData: { page: "Webhooks" },
  component: lazyRouteComponent(() => import("./pages/webhooks.tsx"), "WebhooksPage"),
});

const webhookEndpointRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/webhooks/$endpointId",
  staticData: { page: "Webhook endpoint" },
  validateSearch: readDeliveryFilter,
  component: lazyRouteComponent(() => import("./pages/webhook-endpoint.tsx"), "WebhookEndpointPage"),
});

const settingsRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/settings",
  staticData: { page: "Settings" },
  component: SettingsPage,
});

const operatorsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/operators",
  staticData: { page: "Operators" },
  component: OperatorsPage,
});

const systemRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/system",
  staticData: { page: "System" },
  component: SystemPage,
});

const auditRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/audit",
  staticData: { page: "Audit log" },
  validateSearch: readAuditFilter,
  component: lazyRouteComponent(() => import("./pages/audit.tsx"), "AuditPage"),
});

const accountRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/account",
  staticData: { page: "Account" },
  component: AccountPage,
});

const routeTree = rootRoute.addChildren([
  setUpRoute,
  joinRoute,
  signInRoute,
  signedInRoute.addChildren([
    homeRoute,
    environmentRoute.addChildren([
      videosRoute,
      videoRoute,
      searchRoute,
      apiKeysRoute,
      webhooksRoute,
      webhookEndpointRoute,
      settingsRoute,
    ]),
    systemRoute,
    operatorsRoute,
    auditRoute,
    accountRoute,
  ]),
]);

export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: "intent",
    defaultPendingComponent: Loading,
    defaultErrorComponent: FaultPage,
    defaultNotFoundComponent: NotFoundPage,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
  interface StaticDataRouteOption {
    /** The page's display name, for the error shown if it fails. */
    page: string;
  }
}
