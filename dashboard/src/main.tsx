import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { I18nProvider } from "react-aria-components";
import { createRoot } from "react-dom/client";
import { meQuery } from "./admin-client/queries.ts";
import { ProblemError } from "./admin-client/request.ts";
import { backTo, saysSignedOut } from "./admin-client/signed-out.ts";
import { UploadQueue } from "./features/uploads/upload-queue.ts";
import "./ui/tokens.css";
import "./ui/base.css";
import { UploadsContext } from "./features/uploads/use-uploads.ts";
import { createAppRouter } from "./router.tsx";
import { Toasts } from "./ui/toasts.tsx";

const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: signInAgain }),
  mutationCache: new MutationCache({ onError: signInAgain }),
  defaultOptions: {
    // The service may well be on this machine, or in a network of its own.
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      staleTime: 5_000,
      // What was refused once will be refused again; what was not answered may be.
      retry: (failures, error) => !(error instanceof ProblemError && error.status < 500) && failures < 2,
    },
  },
});
const uploads = new UploadQueue();
const router = createAppRouter(queryClient);

/** A session may end under an open page: by another's hand, in another tab, or by its age. */
async function signInAgain(error: Error): Promise<void> {
  const { pathname, href } = router.state.location;
  const wasSignedIn = queryClient.getQueryData(meQuery.queryKey) !== undefined;
  // Whoever comes without a session is led there by the routes.
  if (!saysSignedOut(error) || !wasSignedIn || pathname === "/sign-in") return;
  await router.navigate({ to: "/sign-in", search: backTo(href), replace: true });
  // What this person saw is nobody else's; what the sign-in shows stays.
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
