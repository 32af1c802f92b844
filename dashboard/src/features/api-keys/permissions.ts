import { PERMISSION_TEXTS, type Permission } from "@subtext/client/contract/permission";
import { apiKeys as texts } from "../../messages/en/api-keys.ts";

/** Returns the code itself for a permission that only a newer release of the service has. */
export function permissionName(code: string): string {
  return isPermission(code) ? texts.permissions[code].name : code;
}

function isPermission(code: string): code is Permission {
  return Object.hasOwn(PERMISSION_TEXTS, code);
}

/** Returns a command that the key's permissions allow, preferably one that only reads. */
export function curlExample(key: string, permissions: readonly Permission[], serviceUrl: string): string {
  const examples = permissions.map((permission) => PERMISSION_TEXTS[permission].example);
  const example = examples.find((request) => !request.includes(" ")) ?? examples[0];
  return `curl -H 'Authorization: Bearer ${key}' ${serviceUrl}/api/v1${example}`;
}
