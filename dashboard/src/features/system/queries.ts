import type { FindingView, SystemView } from "@subtext/server/admin/contract/system";
import { queryOptions } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";

const LOOK_EVERY_MS = 3_000;

export const systemQuery = queryOptions({
  queryKey: ["system"],
  queryFn: ({ signal }) => request<SystemView>("GET", "/system", { signal }),
  refetchInterval: LOOK_EVERY_MS,
});

export const doctorQuery = queryOptions({
  queryKey: ["doctor"],
  queryFn: async ({ signal }) => (await request<{ data: FindingView[] }>("GET", "/doctor", { signal })).data,
  // It loads the engines.
  staleTime: 60_000,
});
