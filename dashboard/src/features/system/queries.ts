import { queryOptions } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";

const LOOK_EVERY_MS = 3_000;

export const systemQuery = queryOptions({
  queryKey: ["system"],
  queryFn: ({ signal }) => request("GET /system", { signal }),
  refetchInterval: LOOK_EVERY_MS,
});

export const doctorQuery = queryOptions({
  queryKey: ["doctor"],
  queryFn: async ({ signal }) => (await request("GET /doctor", { signal })).data,
  // It loads the engines.
  staleTime: 60_000,
});
