import { useNavigate } from "@tanstack/react-router";
import { useMe } from "../../hooks/use-me.ts";
import { PageHeader, Section } from "../../ui/page.tsx";
import { EnvironmentForm } from "./environment-form.tsx";

/** The page at `/` while there is no environment. */
export function FirstEnvironmentPage() {
  const { isOwner } = useMe();
  const navigate = useNavigate();
  if (!isOwner) {
    return <PageHeader title="No environment yet" lead="An owner must make one before there are videos." />;
  }
  return (
    <>
      <PageHeader title="Make an environment" lead="A place for videos, with keys and webhooks of its own." />
      <Section title="New environment">
        <EnvironmentForm
          onCreated={({ id }) =>
            navigate({ to: "/environments/$environmentId/videos", params: { environmentId: id } })
          }
        />
      </Section>
    </>
  );
}
