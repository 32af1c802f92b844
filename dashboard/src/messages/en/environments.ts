import { translated } from "../translated.ts";

export const environments = translated("environments", {
  noneYet: "No environments yet",
  askOwner: "Ask an owner to create one.",
  createOne: "Create an environment",
  purpose: "Each environment has its own videos, API keys and webhooks.",
  newEnvironment: "New environment",
  namePlaceholder: "Staging",
  aiTranscription: "AI Transcription",
  create: "Create environment",
});
