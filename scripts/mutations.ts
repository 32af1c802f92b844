import { accessMutations } from "./mutations/access.ts";
import { cleanupMutations } from "./mutations/cleanup.ts";
import type { Mutation } from "./mutations/mutation.ts";
import { transcriptionMutations } from "./mutations/transcription.ts";
import { videosMutations } from "./mutations/videos.ts";

/** Changes to critical lines. `npm run test:mutation` applies each and expects its tests to fail. */
export const mutations: readonly Mutation[] = [
  ...accessMutations,
  ...videosMutations,
  ...transcriptionMutations,
  ...cleanupMutations,
];
