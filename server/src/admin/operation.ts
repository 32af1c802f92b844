import type { FastifyReply, FastifyRequest } from "fastify";
import type { AuditActor } from "../audit/audit-events.ts";
import type { OperatorSession } from "../operators/operators.ts";
import type { Actor } from "./access.ts";
import { COMMAND_LINE_OPERATIONS } from "./command-line-operations.ts";
import type { BodyOf, ParamsOf, QueryOf, ResponseOf } from "./contract/operation.ts";
import { OPERATIONS } from "./contract/operations.ts";

export const ADMIN_OPERATIONS = { ...OPERATIONS, ...COMMAND_LINE_OPERATIONS };

export type AdminOperations = typeof ADMIN_OPERATIONS;
export type OperationKey = keyof AdminOperations;

/** An authorized request whose query and body match the operation's schemas. */
export interface Call<Key extends OperationKey> {
  params: ParamsOf<Key>;
  query: QueryOf<AdminOperations[Key]>;
  body: BodyOf<AdminOperations[Key]>;
  actor: ActorOf<AdminOperations[Key]["callers"]>;
  auditActor: AuditActor;
  request: FastifyRequest;
  reply: FastifyReply;
  /** Repeats the authorization check, for responses that stay open. */
  isAuthorized(): Promise<boolean>;
}

type ActorOf<C> = C extends "anyone" ? null : C extends "session" ? OperatorSession : Actor;

export type Handlers = {
  [Key in OperationKey]: (call: Call<Key>) => Promise<ResponseOf<AdminOperations[Key]>>;
};

/** Types each handler by the operation that is its key. */
export function defineHandlers<Key extends OperationKey>(handlers: Pick<Handlers, Key>): Pick<Handlers, Key> {
  return handlers;
}
