/**
 * The paths of the dashboard's pages, in Fastify's syntax. The server answers each of them with the same document, so
 * that deep links and reloads work. Other paths remain 404.
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

/** The page that the setup link opens. The token follows `#`, so that it never reaches a server or a log. */
export const SETUP_PATH = "/setup";
/** The page that an operator's invitation link opens, with the token after `#`. */
export const JOIN_PATH = "/join";
