import type { EnvironmentSummaryView } from "@subtext/server/admin/contract/environment";
import { OPERATOR_ROLES, type OperatorRole } from "@subtext/server/db/enums";
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { environmentsQuery, meQuery } from "./admin-client/queries.ts";
import { ProblemError } from "./admin-client/request.ts";
import { parseVideoListView } from "./admin-client/video-list-view.ts";
import { parseAuditFilter } from "./features/audit/queries.ts";
import { parseSearchParams } from "./features/search/queries.ts";
import { SignInPage } from "./features/sign-in/sign-in-page.tsx";
import { parseDeliveryFilter } from "./features/webhooks/queries.ts";
import { lastEnvironment } from "./hooks/last-environment.ts";
import { shell } from "./messages/en/shell.ts";
import { Shell } from "./shell/shell.tsx";
import { ErrorPage, NotFoundPage, ShellErrorPage } from "./ui/error-pages.tsx";
import { Loading } from "./ui/page.tsx";

/** Editors may not read API keys, webhooks, settings or operators. */
const OWNERS_AND_VIEWERS = ["owner", "viewer"] as const;

interface RouterContext {
  queryClient: QueryClient;
}

export function isSignedOutError(error: unknown): boolean {
  return error instanceof ProblemError && error.status === 401 && error.code !== "sign_in_failed";
}

/** Returns search parameters that make the sign-in page redirect to `href` afterward. */
export function returnTo(href: string): { next?: string } {
  return href === "/" ? {} : { next: href };
}

const rootRoute = createRootRouteWithContext<RouterContext>()({
  staticData: { page: "Subtext" },
  component: Outlet,
});

const setupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/setup",
  staticData: { page: shell.pages.setup },
  component: lazyRouteComponent(() => import("./features/setup/setup-page.tsx"), "SetupPage"),
});

const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/join",
  staticData: { page: shell.pages.join },
  component: lazyRouteComponent(() => import("./features/operators/join-page.tsx"), "JoinPage"),
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  staticData: { page: shell.pages.signIn },
  validateSearch: ({ next }: Record<string, unknown>): { next?: string } =>
    // Accept only paths on this site, to prevent open redirects.
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
      if (!isSignedOutError(error)) throw error;
      throw redirect({ to: "/sign-in", search: returnTo(location.href) });
    }
  },
  component: Shell,
  errorComponent: ShellErrorPage,
});

const homeRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/",
  staticData: { page: shell.pages.home },
  beforeLoad: async ({ context }) => {
    const environments = await context.queryClient.fetchQuery(environmentsQuery);
    const environment = environments.find(({ id }) => id === lastEnvironment()) ?? environments[0];
    if (!environment) return;
    const params = { environmentId: environment.id };
    throw redirect({ to: "/environments/$environmentId/videos", params, replace: true });
  },
  component: lazyRouteComponent(
    () => import("./features/environments/first-environment-page.tsx"),
    "FirstEnvironmentPage",
  ),
});

const environmentRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/environments/$environmentId",
  staticData: { page: shell.pages.environment },
  loader: async ({ context: { queryClient }, params }) => {
    const exists = (environments: readonly EnvironmentSummaryView[]) =>
      environments.some(({ id }) => id === params.environmentId);
    if (exists(await queryClient.ensureQueryData(environmentsQuery))) return;
    // The environment may be newer than the cached list.
    if (!exists(await queryClient.fetchQuery({ ...environmentsQuery, staleTime: 0 }))) throw notFound();
  },
  component: Outlet,
});

const videosRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/videos",
  staticData: { page: shell.pages.videos },
  validateSearch: parseVideoListView,
  component: lazyRouteComponent(() => import("./features/video-list/video-list-page.tsx"), "VideoListPage"),
});

const videoRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/videos/$videoId",
  staticData: { page: shell.pages.video },
  /** `t` is the start of playback in seconds. */
  validateSearch: ({ t }: Record<string, unknown>): { t?: number } => {
    const seconds = Number(t);
    return t !== undefined && Number.isFinite(seconds) && seconds >= 0 ? { t: seconds } : {};
  },
  remountDeps: ({ params }) => params,
  component: lazyRouteComponent(() => import("./features/video-detail/video-page.tsx"), "VideoPage"),
});

const searchRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/search",
  staticData: { page: shell.pages.search },
  validateSearch: parseSearchParams,
  component: lazyRouteComponent(() => import("./features/search/search-page.tsx"), "SearchPage"),
});

const apiKeysRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/api-keys",
  staticData: { page: shell.pages.apiKeys, roles: OWNERS_AND_VIEWERS },
  component: lazyRouteComponent(() => import("./features/api-keys/api-keys-page.tsx"), "ApiKeysPage"),
});

const webhooksRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/webhooks",
  staticData: { page: shell.pages.webhooks, roles: OWNERS_AND_VIEWERS },
  component: lazyRouteComponent(() => import("./features/webhooks/webhooks-page.tsx"), "WebhooksPage"),
});

const webhookEndpointRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/webhooks/$endpointId",
  staticData: { page: shell.pages.webhookEndpoint, roles: OWNERS_AND_VIEWERS },
  validateSearch: parseDeliveryFilter,
  remountDeps: ({ params }) => params,
  component: lazyRouteComponent(() => import("./features/webhooks/endpoint-page.tsx"), "EndpointPage"),
});

const settingsRoute = createRoute({
  getParentRoute: () => environmentRoute,
  path: "/settings",
  staticData: { page: shell.pages.settings, roles: OWNERS_AND_VIEWERS },
  component: lazyRouteComponent(() => import("./features/settings/settings-page.tsx"), "SettingsPage"),
});

const operatorsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/operators",
  staticData: { page: shell.pages.operators, roles: OWNERS_AND_VIEWERS },
  component: lazyRouteComponent(() => import("./features/operators/operators-page.tsx"), "OperatorsPage"),
});

const systemRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/system",
  staticData: { page: shell.pages.system, roles: OPERATOR_ROLES },
  component: lazyRouteComponent(() => import("./features/system/system-page.tsx"), "SystemPage"),
});

const auditRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/audit",
  staticData: { page: shell.pages.audit, roles: ["owner"] },
  validateSearch: parseAuditFilter,
  component: lazyRouteComponent(() => import("./features/audit/audit-page.tsx"), "AuditPage"),
});

const accountRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/account",
  staticData: { page: shell.pages.account },
  component: lazyRouteComponent(() => import("./features/account/account-page.tsx"), "AccountPage"),
});

const routeTree = rootRoute.addChildren([
  setupRoute,
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
    // Removes what `validateSearch` does not return. Otherwise, pages would receive invalid parameters.
    search: { strict: true },
    defaultPreload: "intent",
    defaultPendingComponent: Loading,
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotFoundPage,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
  interface StaticDataRouteOption {
    /** Name of the page in error messages. */
    page: string;
    /** Roles that may open the page, by default all. A page without an environment requires the role in all of them. */
    roles?: readonly OperatorRole[];
  }
}
