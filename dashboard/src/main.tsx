import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { I18nProvider } from "react-aria-components";
import { createRoot } from "react-dom/client";
import { environmentsQuery, meQuery } from "./admin-client/queries.ts";
import { ProblemError } from "./admin-client/request.ts";
import { UploadQueue } from "./features/uploads/upload-queue.ts";
import { UploadsContext } from "./features/uploads/use-uploads.ts";
import { LOCALE } from "./messages/locale.ts";
import { createAppRouter, isSignedOutError, returnTo } from "./router.tsx";
import "./ui/theme/tokens.css";
import "./ui/theme/base.css";
import "./ui/theme/frame.css";
import { Toasts } from "./ui/toasts/toasts.tsx";

const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: handleError }),
  mutationCache: new MutationCache({ onError: handleError }),
  defaultOptions: {
    // The server may be reachable while the browser is offline, for example on the same machine.
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      staleTime: 5_000,
      retry: (failures, error) => !(error instanceof ProblemError && error.status < 500) && failures < 2,
    },
  },
});
const ROLE_ERRORS = ["owner_required", "role_required", "environment_not_found"];
const uploads = new UploadQueue();
const router = createAppRouter(queryClient);

async function handleError(error: Error): Promise<void> {
  await Promise.all([openSignInPage(error), refetchRoles(error)]);
}

/** Refetches the roles if the error shows that one of them was changed while a page was open. */
async function refetchRoles(error: Error): Promise<void> {
  if (!(error instanceof ProblemError) || !ROLE_ERRORS.includes(error.code)) return;
  await queryClient.invalidateQueries(meQuery);
  await queryClient.invalidateQueries(environmentsQuery);
}

/** Opens the sign-in page if the error shows that the session ended while a page was open. */
async function openSignInPage(error: Error): Promise<void> {
  const { pathname, href } = router.state.location;
  const wasSignedIn = queryClient.getQueryData(meQuery.queryKey) !== undefined;
  // The routes redirect operators who were not signed in before.
  if (!isSignedOutError(error) || !wasSignedIn || pathname === "/sign-in") return;
  await router.navigate({ to: "/sign-in", search: returnTo(href), replace: true });
  // The next operator must not see this operator's data. Active queries belong to the sign-in page.
  queryClient.removeQueries({ type: "inactive" });
}

addEventListener("beforeunload", (event) => {
  if (uploads.isBusy) event.preventDefault();
});

// Load the code of the page while its data is requested.
for (const { routeId } of router.matchRoutes(router.latestLocation)) {
  void router.loadRouteChunk(router.routesById[routeId as keyof typeof router.routesById]);
}
// Until the first page is loaded, the frame in index.html stays on the screen. A top-level await would deadlock, because
// the code of pages imports this module's file.
void router.load().then(() => createRoot(document.getElementById("root")!).render(<App />));

function App() {
  return (
    <StrictMode>
      <I18nProvider locale={LOCALE}>
        <QueryClientProvider client={queryClient}>
          <UploadsContext value={uploads}>
            <Toasts>
              <RouterProvider router={router} />
            </Toasts>
          </UploadsContext>
        </QueryClientProvider>
      </I18nProvider>
    </StrictMode>
  );
}
