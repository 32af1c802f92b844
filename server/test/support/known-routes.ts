import type { FastifyInstance } from "fastify";

export interface KnownRoute {
  method: string;
  /** As it was registered: `/internal/api-keys/:id`. */
  path: string;
}

/** Every route of the application, including ones added later. */
export function routesOf(app: FastifyInstance): KnownRoute[] {
  // Each line of the tree is a path segment and, if routes end there, their methods.
  const tree = app.printRoutes({ commonPrefix: false, includeHooks: false });
  const segments: string[] = [];
  const found: KnownRoute[] = [];
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
