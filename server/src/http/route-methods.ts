export interface KnownRoute {
  /** The pattern that Fastify knows: `/videos/:videoId`, `/files/*`. */
  url: string;
  methods: string[];
}

/**
 * Returns the methods of a path, sorted; empty if no route has the path. Ignores catch-all routes (`/*`), which match
 * every path.
 *
 * @param path not decoded, without its query
 */
export function methodsOf(path: string, routes: readonly KnownRoute[]): string[] {
  const methods = routes
    .filter(({ url }) => url !== "*" && url !== "/*" && matches(url, path))
    .flatMap((route) => route.methods);
  return [...new Set(methods)].sort();
}

/** Supports `:name` for one segment and a trailing `*` for the rest: the patterns that this service uses. */
function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split("/");
  const given = path.split("/");
  for (const [index, segment] of wanted.entries()) {
    if (segment === "*" && index === wanted.length - 1) return given.length > index;
    const actual = given[index];
    if (actual === undefined) return false;
    const fits = segment.startsWith(":") ? actual !== "" : actual === segment;
    if (!fits) return false;
  }
  return wanted.length === given.length;
}
