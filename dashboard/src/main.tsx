import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { I18nProvider } from "react-aria-components";
import { createRoot } from "react-dom/client";
import { environmentsQuery, meQuery } from "./admin-client/queries.ts";
import { ProblemError } from "./admin-client/request.ts";
import { UploadQueue } from "./features/uploads/upload-queue.ts";
import { UploadsContext } from "./features/uploads/use-uploads.ts";
import { createAppRouter, isSignedOutError, returnTo } from "./router.tsx";
import "./ui/theme/tokens.css";
import "./ui/theme/base.css";
import { Toasts } from "./ui/toasts.tsx";

const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: handleError }),
  mutationCache: new MutationCache({ onError: handleError }),
  defaultOptions: {
    // The server may be on this machine or in a private network, so do not pause requests while the browser is offline.
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
  await Promise.all([signInAgain(error), readRolesAgain(error)]);
}

/** Reads the operator's roles again if one was changed while a page was open. */
async function readRolesAgain(error: Error): Promise<void> {
  if (!(error instanceof ProblemError) || !ROLE_ERRORS.includes(error.code)) return;
  await queryClient.invalidateQueries(meQuery);
  await queryClient.invalidateQueries(environmentsQuery);
}

/**
 * Opens the sign-in page if the session ended while a page was open: it was revoked, expired, or signed out in another
 * tab.
 */
async function signInAgain(error: Error): Promise<void> {
  const { pathname, href } = router.state.location;
  const wasSignedIn = queryClient.getQueryData(meQuery.queryKey) !== undefined;
  // Without a previous session, the routes redirect.
  if (!isSignedOutError(error) || !wasSignedIn || pathname === "/sign-in") return;
  await router.navigate({ to: "/sign-in", search: returnTo(href), replace: true });
  // The next operator must not see this operator's data. The queries of the sign-in page are active, so they are kept.
  queryClient.removeQueries({ type: "inactive" });
}

addEventListener("beforeunload", (event) => {
  if (uploads.isBusy) event.preventDefault();
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <I18nProvider locale="en-GB">
      <QueryClientProvider client={queryClient}>
        <UploadsContext value={uploads}>
          <Toasts>
            <RouterProvider router={router} />
          </Toasts>
        </UploadsContext>
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
);
