import { shell as texts } from "../messages/en/shell.ts";
import {
  AccountIcon,
  AuditIcon,
  KeyIcon,
  PeopleIcon,
  SettingsIcon,
  SystemIcon,
  VideosIcon,
  WebhookIcon,
} from "../ui/icons.tsx";

export const ENVIRONMENT_PAGES = [
  { to: "/environments/$environmentId/videos", name: texts.pages.videos, icon: <VideosIcon /> },
  { to: "/environments/$environmentId/api-keys", name: texts.pages.apiKeys, icon: <KeyIcon /> },
  { to: "/environments/$environmentId/webhooks", name: texts.pages.webhooks, icon: <WebhookIcon /> },
  { to: "/environments/$environmentId/settings", name: texts.pages.settings, icon: <SettingsIcon /> },
] as const;

export const SERVICE_PAGES = [
  { to: "/system", name: texts.pages.system, icon: <SystemIcon /> },
  { to: "/operators", name: texts.pages.operators, icon: <PeopleIcon /> },
  { to: "/audit", name: texts.pages.audit, icon: <AuditIcon /> },
  { to: "/account", name: texts.pages.account, icon: <AccountIcon /> },
] as const;
