export interface KnownRoute {
  /** Fastify's pattern: `/videos/:videoId`, `/files/*`. */
  url: string;
  methods: string[];
}

/**
 * Returns the methods of a path, sorted; empty if no route matches. Ignores catch-all routes (`/*`), which match every
 * path.
 *
 * @param path not decoded, without its query
 */
export function methodsOf(path: string, routes: readonly KnownRoute[]): string[] {
  const methods = routes
    .filter(({ url }) => url !== "*" && url !== "/*" && matches(url, path))
    .flatMap((route) => route.methods);
  return [...new Set(methods)].sort();
}

/** Supports the patterns that this service uses: `:name` for one segment and a trailing `*` for the rest. */
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
