import type { FindingView, SystemView } from "@subtext/dashboard/contract/system";
import type { FastifyInstance } from "fastify";
import type { System } from "../../system.ts";

export interface SystemRouteDeps {
  system: System;
  /** Looks at every part of the service. */
  diagnose(): Promise<FindingView[]>;
}

/** How the service is doing. Only the doctor starts anything: he loads the engines, and is asked seldom. */
export function registerSystem(app: FastifyInstance, { system, diagnose }: SystemRouteDeps): void {
  app.get("/system", async (): Promise<SystemView> => await system.look());
  app.get("/doctor", async () => ({ data: await diagnose() }));
}
