import { account } from "./account.ts";
import { forms } from "./forms.ts";
import { signIn } from "./sign-in.ts";

/** Every feature's messages. Each has the type of its English messages, so none is missing. */
export const GERMAN = { account, forms, signIn };

export type Feature = "account" | "forms" | "signIn";

GERMAN satisfies Record<Feature, object>;
