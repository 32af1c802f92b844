/**
 * Where the dashboard's pages live, as Fastify spells addresses; the server answers each of them with the same
 * document, so that a deep link and a reload work. Everything else stays what it is: 404.
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

/** The page that the set-up link leads to; its token stands behind `#`, so that no server and no log sees it. */
export const SET_UP_PATH = "/set-up";
/** The same for the link that an operator is invited with. */
export const JOIN_PATH = "/join";
