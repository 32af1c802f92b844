import { useQueryClient } from "@tanstack/react-query";
import { Link, useMatch, useRouter } from "@tanstack/react-router";
import { messageOf } from "../admin-client/request.ts";
import controls from "./controls.module.css";
import { Button, Notice } from "./controls.tsx";
import { PageHeader } from "./page.tsx";

export function NotFoundPage() {
  return (
    <>
      <PageHeader title="Page not found" lead="It may have been moved or deleted." />
      <p>
        <Link to="/">Go to Videos</Link>
      </p>
    </>
  );
}

/** Replaces a page that threw. Everything around the page still works. */
export function FaultPage({ error }: { error: unknown }) {
  const router = useRouter();
  const queryClient = useQueryClient();
  const { page } = useMatch({ strict: false }).staticData;
  return (
    <>
      <PageHeader title="Something went wrong" lead={`The page “${page}” could not be shown.`} />
      <div className={controls.form}>
        <Notice tone="bad">{messageOf(error)}</Notice>
        <div>
          <Button
            onPress={() => {
              // Also the data that the page threw on.
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
