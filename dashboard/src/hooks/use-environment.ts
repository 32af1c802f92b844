import type { EnvironmentSummaryView, EnvironmentView } from "@subtext/server/admin/contract/environment";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { environmentsQuery } from "../admin-client/queries.ts";
import { ui } from "../messages/en/ui.ts";

/** Returns the environment in the page's URL. Use it only below the environment's route. */
export function useEnvironment(): EnvironmentSummaryView | EnvironmentView {
  const { environmentId } = useParams({ from: "/signed-in/environments/$environmentId" });
  const { data: environments } = useSuspenseQuery(environmentsQuery);
  const environment = environments.find(({ id }) => id === environmentId);
  if (!environment) throw new Error(ui.environmentGone);
  return environment;
}
