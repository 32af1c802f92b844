import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useMatch, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { environmentsQuery, meQuery } from "../admin-client/queries.ts";
import { isTemporary } from "../admin-client/request.ts";
import { ui as texts } from "../messages/en/ui.ts";
import controls from "./forms/controls.module.css";
import { Button, ErrorNotice } from "./forms/controls.tsx";
import { PageHeader } from "./page.tsx";
import { SignedOutPage } from "./signed-out-page.tsx";

export function NotFoundPage() {
  return (
    <>
      <PageHeader title={texts.notFound} description={texts.notFoundHint} />
      <p>
        <Link to="/">{texts.goToVideos}</Link>
      </p>
    </>
  );
}

export function ForbiddenPage({ page }: { page: string }) {
  return (
    <>
      <PageHeader title={page} description={texts.forbidden} />
      <p>
        <Link to="/">{texts.goToVideos}</Link>
      </p>
    </>
  );
}

/** Replaces a page that threw an error. The shell around it keeps working. */
export function ErrorPage({ error }: { error: unknown }) {
  const { page } = useMatch({ strict: false }).staticData;
  return (
    <>
      <PageHeader title={texts.unknownProblem} description={texts.pageFailed(page)} />
      <LoadAgain error={error} />
    </>
  );
}

/** Replaces the shell and its page, for example if the operator could not be loaded. */
export function ShellErrorPage({ error }: { error: unknown }) {
  return (
    <SignedOutPage title={texts.unknownProblem}>
      <LoadAgain error={error} />
    </SignedOutPage>
  );
}

function LoadAgain({ error }: { error: unknown }) {
  const router = useRouter();
  const queryClient = useQueryClient();
  const load = useMutation({
    async mutationFn() {
      // The error may have been caused by cached data.
      queryClient.removeQueries({ type: "inactive" });
      // The router hides this page while it loads, so what every page needs is loaded before, while the button is
      // pending and has the focus.
      const needed = [queryClient.fetchQuery(meQuery), queryClient.fetchQuery(environmentsQuery)];
      await Promise.all<unknown>(needed).catch((failure) => {
        if (isTemporary(failure)) throw failure;
      });
      await router.invalidate();
    },
  });
  useEffect(
    () => () => {
      if (document.activeElement !== document.body) return;
      // The button was removed together with the page. The next page may not have a heading yet.
      const target = document.querySelector("h1") ?? document.querySelector("main");
      target?.focus({ preventScroll: true });
    },
    [],
  );
  return (
    <div className={controls.form}>
      <ErrorNotice error={load.error ?? error} />
      <div>
        <Button isPending={load.isPending} onPress={() => load.mutate()}>
          {texts.tryAgain}
        </Button>
      </div>
    </div>
  );
}
