import { useNavigate } from "@tanstack/react-router";
import { useMe } from "../../hooks/use-me.ts";
import { environments as texts } from "../../messages/en/environments.ts";
import { PageHeader, Section } from "../../ui/page.tsx";
import { EnvironmentForm } from "./environment-form.tsx";

/** Shown at `/` while no environment exists. */
export function FirstEnvironmentPage() {
  const { role } = useMe();
  const navigate = useNavigate();
  if (role !== "owner") {
    return <PageHeader title={texts.noneYet} description={texts.askOwner} />;
  }
  return (
    <>
      <PageHeader title={texts.createOne} description={texts.purpose} />
      <Section title={texts.newEnvironment}>
        <EnvironmentForm
          onCreated={({ id }) =>
            navigate({ to: "/environments/$environmentId/videos", params: { environmentId: id } })
          }
        />
      </Section>
    </>
  );
}
