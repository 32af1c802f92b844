import { recordAuditEvent } from "../audit/audit-events.ts";
import type { Db } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";
import { describeAccess } from "../operators/access.ts";
import { invite } from "../operators/invitations.ts";
import type { Operators } from "../operators/operators.ts";
import { deleteInvitation, listInvitations, listOperators } from "../operators/queries.ts";
import { defineHandlers } from "./operation.ts";
import { toInvitationView, toOperatorView } from "./serializers.ts";

export function operatorHandlers(deps: { db: Db; clock: Clock; operators: Operators }) {
  const { db, clock, operators } = deps;
  return defineHandlers({
    "GET /me": async ({ actor }) => actor.operator,

    "GET /operators": async () => ({ data: (await listOperators(db)).map(toOperatorView) }),

    "DELETE /operators/:id": async ({ params: { id }, auditActor, request }) => {
      if (!isPlausibleId(id)) throw new AppError("operator_not_found", "There is no such operator.");
      await operators.remove(id, (tx, operator) =>
        recordAuditEvent({ tx, clock }, auditActor, {
          action: "operator.removed",
          subject: { id, name: operator.email },
          detail: { role: describeAccess(operator) },
        }),
      );
      request.log.info({ operatorId: id }, "operator removed");
    },

    "PATCH /operators/:id": async ({ params: { id }, body, auditActor, request }) => {
      if (!isPlausibleId(id)) throw new AppError("operator_not_found", "There is no such operator.");
      const changed = await operators.changeAccess(id, body, (tx, before, access) =>
        recordAuditEvent({ tx, clock }, auditActor, {
          action: "operator.role_changed",
          subject: { id, name: before.email },
          detail: { from: describeAccess(before), to: describeAccess(access) },
        }),
      );
      request.log.info({ operatorId: id, role: describeAccess(changed) }, "operator's role changed");
      return toOperatorView(changed);
    },

    "GET /invitations": async () => ({
      data: (await listInvitations(db, clock.now())).map(toInvitationView),
    }),

    "POST /invitations": async ({ body, auditActor, request }) => {
      const { invitation, url } = await db.transaction().execute(async (tx) => {
        const created = await invite({ ...deps, db: tx }, body);
        const { id, email } = created.invitation;
        await recordAuditEvent({ tx, clock }, auditActor, {
          action: "operator.invited",
          subject: { id, name: email },
          detail: { role: describeAccess(created.invitation) },
        });
        return created;
      });
      request.log.info({ invitationId: invitation.id, role: describeAccess(invitation) }, "operator invited");
      return { ...toInvitationView(invitation), url };
    },

    "DELETE /invitations/:id": async ({ params: { id }, auditActor }) => {
      await db.transaction().execute(async (tx) => {
        const email = isPlausibleId(id) ? await deleteInvitation(tx, id) : undefined;
        if (email === undefined) {
          throw new AppError(
            "invitation_not_found",
            "There is no such invitation. It may have been used or revoked.",
          );
        }
        await recordAuditEvent({ tx, clock }, auditActor, {
          action: "operator.invitation_revoked",
          subject: { id, name: email },
        });
      });
    },

    "POST /operator/reset-password": async ({ body, auditActor, request }) => {
      const credentials = await operators.resetPassword(body.email ?? null, (tx, { id, email }) =>
        recordAuditEvent({ tx, clock }, auditActor, {
          action: "operator.password_reset",
          subject: { id, name: email },
        }),
      );
      request.log.warn("an operator's password was reset");
      return credentials;
    },
  });
}
