import { join } from "node:path";

interface RouterSource {
  createAppRouter(queryClient: object): { routesByPath: Record<string, { children?: object }> };
}

// A variable prevents the compiler from checking the dashboard's sources with the options for tests.
const ROUTER: string = join(import.meta.dirname, "../src/router.tsx");

/** Returns the paths of all pages, with parameters. */
export async function routerPaths(): Promise<string[]> {
  const { createAppRouter } = (await import(ROUTER)) as RouterSource;
  return Object.entries(createAppRouter({}).routesByPath)
    .filter(([, { children }]) => !children)
    .map(([path]) => path)
    .sort();
}
