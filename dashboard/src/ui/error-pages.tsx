import { useQueryClient } from "@tanstack/react-query";
import { Link, useMatch, useRouter } from "@tanstack/react-router";
import controls from "./forms/controls.module.css";
import { Button, ErrorNotice } from "./forms/controls.tsx";
import { PageHeader } from "./page.tsx";

export function NotFoundPage() {
  return (
    <>
      <PageHeader title="Page not found" description="It may have been moved or deleted." />
      <p>
        <Link to="/">Go to Videos</Link>
      </p>
    </>
  );
}

export function ForbiddenPage({ page }: { page: string }) {
  return (
    <>
      <PageHeader title={page} description="Your role doesn't include this page. Ask an owner for access." />
      <p>
        <Link to="/">Go to Videos</Link>
      </p>
    </>
  );
}

/** Replaces a page that threw an error. The shell around it keeps working. */
export function ErrorPage({ error }: { error: unknown }) {
  const router = useRouter();
  const queryClient = useQueryClient();
  const { page } = useMatch({ strict: false }).staticData;
  return (
    <>
      <PageHeader title="Something went wrong" description={`The page “${page}” could not be shown.`} />
      <div className={controls.form}>
        <ErrorNotice error={error} />
        <div>
          <Button
            onPress={() => {
              // The error may have been caused by cached data.
              queryClient.removeQueries({ type: "inactive" });
              void router.invalidate();
            }}
          >
            Try again
          </Button>
        </div>
      </div>
    </>
  );
}
