import type { environments as english } from "../en/environments.ts";

export const environments: typeof english = {
  noneYet: "Noch keine Umgebung",
  askOwner: "Bitten Sie einen Inhaber, eine zu erstellen.",
  createOne: "Umgebung erstellen",
  purpose: "Jede Umgebung hat eigene Videos, API-Schlüssel und Webhooks.",
  newEnvironment: "Neue Umgebung",
  namePlaceholder: "Staging",
  aiTranscription: "KI-Transkription",
  create: "Umgebung erstellen",
};
