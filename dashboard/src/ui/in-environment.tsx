import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { useSuspenseQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { environmentsQuery } from "../admin-client/queries.ts";
import { NotFoundPage } from "./error-pages.tsx";

/** A page of the environment in its address, where there is such a one. */
export function InEnvironment({
  environmentId,
  children,
}: {
  environmentId: string;
  children(environment: EnvironmentView): ReactNode;
}) {
  const { data: environments } = useSuspenseQuery(environmentsQuery);
  const environment = environments.find(({ id }) => id === environmentId);
  return environment ? children(environment) : <NotFoundPage />;
}
