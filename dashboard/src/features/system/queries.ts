import { queryOptions } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";

export const systemQuery = queryOptions({
  queryKey: ["system"],
  queryFn: ({ signal }) => request("GET /system", { signal }),
  refetchInterval: 3_000,
});

export const doctorQuery = queryOptions({
  queryKey: ["doctor"],
  queryFn: async ({ signal }) => (await request("GET /doctor", { signal })).data,
  // Expensive: the check loads the speech engines.
  staleTime: 60_000,
});
