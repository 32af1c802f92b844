import { requireArgument } from "./arguments.ts";

/**
 * Fills in the path parameters and appends the query.
 * @throws SubtextError `invalid_argument` for an ID that would change the path
 */
export function fillRoute(
  path: string,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, unknown>>,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    // "." and ".." would resolve to another path, and "" to the path of the list operation.
    const isIdentifier =
      typeof value === "string" && !/^\.{0,2}$/.test(value) && !/\p{Surrogate}/u.test(value);
    requireArgument(isIdentifier, name, "an identifier");
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.append(name, String(value));
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}
