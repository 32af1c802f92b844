import type { FastifyRequest } from "fastify";
import { recordAuditEvent } from "../audit/audit-events.ts";
import type { Config } from "../config/config.ts";
import type { Db } from "../db/schema.ts";
import { createEnvironment } from "../environments/environments.ts";
import { listEnvironments } from "../environments/queries.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { describeAccess } from "../operators/access.ts";
import { acceptInvitation, lookUpInvitation } from "../operators/invitations.ts";
import { type Credentials, checkEmail, type Operators } from "../operators/operators.ts";
import { engineOptions, storeEngineChoice } from "../speech/engine-choice.ts";
import type { Models } from "../speech/models.ts";
import type { SetupRequest } from "./contract/operator.ts";
import { defineHandlers } from "./operation.ts";
import { toInvitationView } from "./serializers.ts";
import { beginSession } from "./sign-in/sign-in.ts";

export interface SetupDeps {
  db: Db;
  clock: Clock;
  operators: Operators;
  config: Pick<Config, "isEngineSet" | "modelDownload">;
  models: Pick<Models, "choose" | "machineSpeed">;
}

/**
 * Setup of the service and acceptance of invitations, for people who have a secret link but no account. The command line
 * can set up the service, too.
 */
export function setupHandlers(deps: SetupDeps) {
  const { db, clock, operators, config, models } = deps;
  async function setUp(
    token: string,
    { environment, engine, ...operator }: Omit<SetupRequest, "token">,
    request: FastifyRequest,
  ): Promise<Credentials> {
    const credentials = await operators.setUp(token, operator, async (tx, id) => {
      const auditActor = {
        kind: "operator",
        id,
        name: checkEmail(operator.email),
        address: request.ip,
      } as const;
      await recordAuditEvent({ tx, clock }, auditActor, { action: "service.set_up" });
      if (engine !== undefined) await storeEngineChoice(tx, config, engine);
      if (!environment) return;
      await recordAuditEvent({ tx, clock }, auditActor, {
        action: "environment.created",
        environment: await createEnvironment({ db: tx, clock }, environment),
        detail: { aiTranscription: environment.aiTranscription },
      });
    });
    if (engine !== undefined) models.choose(engine);
    request.log.info("the service was set up");
    return credentials;
  }

  return defineHandlers({
    "GET /setup": async () => {
      const [needed, environments] = await Promise.all([operators.needsSetUp(), listEnvironments(db)]);
      return {
        needed,
        hasEnvironment: environments.length > 0,
        engines: needed ? engineOptions(config, models.machineSpeed()) : [],
      };
    },

    "POST /setup": async ({ body: { token, ...owner }, request, reply }) => {
      const credentials = await setUp(token, owner, request);
      await beginSession(operators, credentials, request, reply);
      return {};
    },

    "POST /owner": async ({ body, request }) => {
      const token = await operators.newSetupToken();
      if (token === null) {
        throw new AppError("set_up_link_invalid", "Subtext is set up already. Invite more people instead.");
      }
      await setUp(token, body, request);
    },

    "POST /join/look-up": async ({ body }) => toInvitationView(await lookUpInvitation(deps, body.token)),

    "POST /join": async ({ body, request, reply }) => {
      const credentials = await acceptInvitation(deps, body, (tx, { id, email, ...access }) =>
        recordAuditEvent(
          { tx, clock },
          { kind: "operator", id, name: email, address: request.ip },
          { action: "operator.joined", detail: { role: describeAccess(access) } },
        ),
      );
      request.log.info("an invited operator joined");
      await beginSession(operators, credentials, request, reply);
      return {};
    },
  });
}
