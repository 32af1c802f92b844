import type { FastifyReply, FastifyRequest } from "fastify";
import type { AuditActor } from "../audit/audit-events.ts";
import type { OperatorSession } from "../operators/operators.ts";
import type { Actor } from "./access.ts";
import { COMMAND_LINE_OPERATIONS } from "./command-line-operations.ts";
import type { BodyOf, ParamsOf, QueryOf, ResponseOf } from "./contract/operation.ts";
import { OPERATIONS } from "./contract/operations.ts";

/** Every operation of the admin API. */
export const ADMIN_OPERATIONS = { ...OPERATIONS, ...COMMAND_LINE_OPERATIONS };

export type AdminOperations = typeof ADMIN_OPERATIONS;
export type OperationKey = keyof AdminOperations;

/** An authorized request whose query and body match the operation's schemas. */
export interface Call<Key extends OperationKey> {
  params: ParamsOf<Key>;
  query: QueryOf<AdminOperations[Key]>;
  body: BodyOf<AdminOperations[Key]>;
  actor: ActorOf<AdminOperations[Key]["callers"]>;
  /** The actor as the audit log records it. */
  auditActor: AuditActor;
  request: FastifyRequest;
  reply: FastifyReply;
  /** Checks again, for a response that takes long, that the session exists and has the role. */
  isAuthorized(): Promise<boolean>;
}

type ActorOf<C> = C extends "anyone" ? null : C extends "session" ? OperatorSession : Actor;

export type Handlers = {
  [Key in OperationKey]: (call: Call<Key>) => Promise<ResponseOf<AdminOperations[Key]>>;
};

/** Infers the operations from the object's keys, and types their handlers. */
export function handlersOf<Key extends OperationKey>(handlers: Pick<Handlers, Key>): Pick<Handlers, Key> {
  return handlers;
}
