/**
 * Paths of the dashboard's pages, in Fastify's syntax. The server sends the same document for each, so that deep links
 * and reloads work. All other paths return 404.
 */
export const PAGE_PATHS = [
  "/",
  "/setup",
  "/sign-in",
  "/join",
  "/environments/*",
  "/account",
  "/operators",
  "/system",
  "/audit",
] as const;

/** The page that the setup link opens. The token is in the fragment (`#`), so browsers do not send it to any server. */
export const SETUP_PATH = "/setup";
/** The page that an invitation link opens. The token is in the fragment. */
export const JOIN_PATH = "/join";
