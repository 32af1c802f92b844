import type { FastifyInstance } from "fastify";

export interface Route {
  method: string;
  /** With parameters, e.g. `/internal/api-keys/:id`. */
  path: string;
}

export function listRoutes(app: FastifyInstance): Route[] {
  // Each line of the tree is a path segment, followed by the methods of the routes that end there.
  const tree = app.printRoutes({ commonPrefix: false, includeHooks: false });
  const segments: string[] = [];
  const found: Route[] = [];
  for (const line of tree.split("\n")) {
    const match = /^((?:[│ ] {3})*)[├└]── (\S+)(?: \(([A-Z, ]+)\))?/.exec(line);
    if (!match) continue;
    const [, indent = "", segment = "", methods = ""] = match;
    segments.splice(indent.length / 4, Number.POSITIVE_INFINITY, segment);
    const path = segments.join("");
    for (const method of methods.split(", ").filter(Boolean)) found.push({ method, path });
  }
  return found;
}
