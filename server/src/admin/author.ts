import type { FastifyRequest } from "fastify";
import type { Author } from "../audit/audit.ts";
import type { Actor } from "./access.ts";

/** Of a request that was let in. The command line is on this machine, wherever it connects from. */
export function authorOf({ actor, ip }: Pick<FastifyRequest, "ip"> & { actor: Actor }): Author {
  if (actor === "command line") return { kind: "command_line", id: null, name: null, address: null };
  return { kind: "operator", id: actor.id, name: actor.email, address: ip };
}
