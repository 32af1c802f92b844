import { environmentChanges, recordAuditEvent } from "../audit/audit-events.ts";
import type { Db } from "../db/schema.ts";
import {
  changeEnvironment,
  createEnvironment,
  getEnvironment,
  lockEnvironment,
} from "../environments/environments.ts";
import { listEnvironments } from "../environments/queries.ts";
import type { Clock } from "../lib/clock.ts";
import { getWeight, listWeights, setWeight } from "../queue/fair-queueing.ts";
import { countDue } from "../videos/retention-queries.ts";
import { roleIn } from "./access.ts";
import { MAX_COUNTED_DUE } from "./contract/environment.ts";
import { VIEWERS } from "./contract/operations/callers.ts";
import { defineHandlers } from "./operation.ts";
import { toEnvironmentSummary, toEnvironmentView } from "./serializers.ts";

export function environmentHandlers({ db, clock }: { db: Db; clock: Clock }) {
  return defineHandlers({
    "GET /environments": async ({ actor }) => {
      const weights = await listWeights(db);
      const data = (await listEnvironments(db)).flatMap((row) => {
        const role = roleIn(actor, row.id);
        if (role === null) return [];
        const maySeeSettings = VIEWERS.some((each) => each === role);
        return [
          maySeeSettings ? toEnvironmentView(row, weights.get(row.id) ?? 1) : toEnvironmentSummary(row),
        ];
      });
      return { data };
    },

    "POST /environments": async ({ body, auditActor, request }) => {
      const { name, aiTranscription = true } = body;
      const row = await db.transaction().execute(async (tx) => {
        const environment = await createEnvironment({ db: tx, clock }, { name, aiTranscription });
        const detail = { aiTranscription };
        await recordAuditEvent({ tx, clock }, auditActor, {
          action: "environment.created",
          environment,
          detail,
        });
        return environment;
      });
      request.log.info({ environmentId: row.id, aiTranscription }, "environment created");
      return toEnvironmentView(row, 1);
    },

    "PATCH /environments/:environment": async ({ params, body, auditActor, request }) => {
      const changed = await db.transaction().execute(async (tx) => {
        const before = await lockEnvironment(tx, params.environment);
        const { weight: newWeight, ...change } = body;
        const after = await changeEnvironment(tx, before.id, change);
        const oldWeight = await getWeight(tx, before.id);
        const weight = newWeight ?? oldWeight;
        if (weight !== oldWeight) await setWeight(tx, before.id, weight);
        const events = environmentChanges({ ...before, weight: oldWeight }, { ...after, weight });
        for (const event of events) await recordAuditEvent({ tx, clock }, auditActor, event);
        return { ...after, weight };
      });
      request.log.info({ environmentId: changed.id, ...body }, "environment changed");
      return toEnvironmentView(changed, changed.weight);
    },

    "GET /environments/:environment/retention-effect": async ({ params, query }) => {
      const { id } = await getEnvironment(db, params.environment);
      return {
        videos: await countDue(db, id, { retention: query, now: clock.now(), upTo: MAX_COUNTED_DUE }),
      };
    },
  });
}
