/**
 * The paths of the dashboard's pages, in Fastify's syntax. The server answers each of them with the same document, so
 * that deep links and reloads work. Other paths remain 404.
 */
export const PAGE_PATHS = [
  "/",
  "/set-up",
  "/sign-in",
  "/join",
  "/environments/*",
  "/account",
  "/operators",
  "/system",
  "/audit",
] as const;

/** The page of the setup link. Its token follows `#`, so that it never reaches a server or a log. */
export const SET_UP_PATH = "/set-up";
/** The page of an operator's invitation link, with its token after `#`. */
export const JOIN_PATH = "/join";
