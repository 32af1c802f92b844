import type { EngineDefinition, EngineSettingsReader } from "../definition.ts";

export interface OpenAiSpec {
  kind: "openai";
  servers: { url: string; apiKey: string | null }[];
  model: string;
  /** See `OpenAiOptions`. */
  failsIfUnreachable?: boolean;
}

export const openAi = {
  configuration: {
    settings: {
      SPEECH_SERVERS: {
        description:
          "Base URLs of OpenAI-compatible servers, your own or a provider's, that transcribe instead of this machine. The speech in recordings is sent to them.",
        value: "URLs, separated by commas",
        example: "http://gpu1:8000/v1,http://gpu2:8000/v1",
        default: null,
      },
      SPEECH_SERVER_KEYS: {
        description: "The API key of these servers, or one per server.",
        value: "text, separated by commas",
        example: "sk-EXAMPLE",
        default: null,
        secret: true,
      },
      SPEECH_SERVER_MODEL: {
        description: "The name of the model on these servers.",
        value: "name",
        example: "Systran/faster-whisper-large-v3",
        default: "whisper-1",
      },
    },
    enabledBy: "SPEECH_SERVERS",
    read: (settings, interactive) => ({
      kind: "openai",
      servers: readServers(settings),
      model: settings.text("SPEECH_SERVER_MODEL") ?? "",
      ...(interactive && { failsIfUnreachable: true }),
    }),
  },
  workers: () => null,
  open: async (spec) => (await import("./openai.ts")).openOpenAi(spec),
  weightBytes: async () => 0,
  modelName: ({ model }) => model,
} as const satisfies EngineDefinition<OpenAiSpec>;

/** Accepts one key for all servers, or one for each server. */
function readServers(settings: EngineSettingsReader): OpenAiSpec["servers"] {
  const urls = settings.list("SPEECH_SERVERS");
  const keys = settings.list("SPEECH_SERVER_KEYS");
  for (const url of urls.length === 0 ? [""] : urls) {
    const address = URL.parse(url);
    if (address?.protocol !== "http:" && address?.protocol !== "https:") {
      settings.reportInvalid("SPEECH_SERVERS", url, "it must be a URL that begins with http:// or https://");
    } else if (address.username || address.password) {
      const expected = "it must be a URL without credentials; use SPEECH_SERVER_KEYS for API keys";
      settings.reportInvalid("SPEECH_SERVERS", url, expected);
    }
  }
  if (keys.length > 1 && keys.length !== urls.length) {
    const expected = `it must be one key, or one for each server (${urls.length})`;
    settings.reportInvalid("SPEECH_SERVER_KEYS", "…", expected);
  }
  return urls.map((url, index) => ({ url, apiKey: keys[index] ?? keys[0] ?? null }));
}
