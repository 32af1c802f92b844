import { account } from "./account.ts";
import { apiKeys } from "./api-keys.ts";
import { environments } from "./environments.ts";
import { format } from "./format.ts";
import { forms } from "./forms.ts";
import { operators } from "./operators.ts";
import { setup } from "./setup.ts";
import { shell } from "./shell.ts";
import { signIn } from "./sign-in.ts";
import { ui } from "./ui.ts";
import { webhooks } from "./webhooks.ts";

/** The messages of every feature. Each has the type of its English messages, so none is missing. */
export const GERMAN = {
  account,
  apiKeys,
  environments,
  format,
  forms,
  operators,
  setup,
  shell,
  signIn,
  ui,
  webhooks,
} satisfies Record<Feature, object>;

export type Feature =
  | "account"
  | "apiKeys"
  | "environments"
  | "format"
  | "forms"
  | "operators"
  | "setup"
  | "shell"
  | "signIn"
  | "ui"
  | "webhooks";
