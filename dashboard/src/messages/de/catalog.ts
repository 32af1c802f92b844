import { account } from "./account.ts";
import { apiKeys } from "./api-keys.ts";
import { audit } from "./audit.ts";
import { correction } from "./correction.ts";
import { environments } from "./environments.ts";
import { format } from "./format.ts";
import { forms } from "./forms.ts";
import { operators } from "./operators.ts";
import { problems } from "./problems.ts";
import { search } from "./search.ts";
import { settings } from "./settings.ts";
import { setup } from "./setup.ts";
import { shell } from "./shell.ts";
import { signIn } from "./sign-in.ts";
import { system } from "./system.ts";
import { ui } from "./ui.ts";
import { uploads } from "./uploads.ts";
import { videoDetail } from "./video-detail.ts";
import { videoList } from "./video-list.ts";
import { videoState } from "./video-state.ts";
import { webhooks } from "./webhooks.ts";

/** The messages of every feature. Each has the type of its English messages, so none is missing. */
export const GERMAN = {
  account,
  apiKeys,
  audit,
  correction,
  environments,
  format,
  forms,
  operators,
  problems,
  search,
  settings,
  setup,
  shell,
  signIn,
  system,
  ui,
  uploads,
  videoDetail,
  videoList,
  videoState,
  webhooks,
} satisfies Record<Feature, object>;

export type Feature =
  | "account"
  | "apiKeys"
  | "audit"
  | "correction"
  | "environments"
  | "format"
  | "forms"
  | "operators"
  | "problems"
  | "search"
  | "settings"
  | "setup"
  | "shell"
  | "signIn"
  | "system"
  | "ui"
  | "uploads"
  | "videoDetail"
  | "videoList"
  | "videoState"
  | "webhooks";
