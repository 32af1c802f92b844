import { json, type OperationTable } from "../operation.ts";
import type { FindingView, SystemView } from "../system.ts";
import { EVERY_ROLE, OWNERS } from "./callers.ts";

export const SYSTEM_OPERATIONS = {
  "GET /system": { callers: EVERY_ROLE, roleIn: "all environments", response: json<SystemView>() },
  "GET /doctor": {
    callers: EVERY_ROLE,
    roleIn: "all environments",
    response: json<{ data: FindingView[] }>(),
  },
  "POST /file-check": { callers: OWNERS, roleIn: "all environments", response: json<{ videos: number }>() },
} as const satisfies OperationTable;
