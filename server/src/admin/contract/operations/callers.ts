import { OPERATOR_ROLES } from "../../../db/enums.ts";

export const EVERY_ROLE = OPERATOR_ROLES;
/** Roles that may change videos. */
export const EDITORS = ["owner", "editor"] as const;
/** Roles that may read API keys, webhooks, settings and operators. */
export const VIEWERS = ["owner", "viewer"] as const;
export const OWNERS = ["owner"] as const;
