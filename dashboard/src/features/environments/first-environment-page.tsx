import { useNavigate } from "@tanstack/react-router";
import { useMe } from "../../hooks/use-me.ts";
import { PageHeader, Section } from "../../ui/page.tsx";
import { EnvironmentForm } from "./environment-form.tsx";

/** Shown at `/` while no environment exists. */
export function FirstEnvironmentPage() {
  const { role } = useMe();
  const navigate = useNavigate();
  if (role !== "owner") {
    return <PageHeader title="No environment yet" description="Ask an owner to create one." />;
  }
  return (
    <>
      <PageHeader
        title="Create an environment"
        description="Each environment has its own videos, API keys and webhooks."
      />
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
