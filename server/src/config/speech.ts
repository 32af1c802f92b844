import { isAbsolute } from "node:path";
import { ENGINE_CHOICES, type EngineChoice } from "@subtext/speech/engines/registry";
import { KNOWN_MODELS, knownModel } from "@subtext/speech/models/catalog";
import type { SettingsReader } from "./settings-reader.ts";

/** External transcription servers and their model name. */
export interface SpeechServers {
  servers: { url: string; apiKey: string | null }[];
  model: string;
}

/** The recognizers: the local engine, and the external servers if any are configured. */
export function readEngine(settings: SettingsReader): {
  engine: EngineChoice;
  speechServers: SpeechServers | null;
} {
  const engine = settings.oneOf("ENGINE", ENGINE_CHOICES);
  const speechServers = readSpeechServers(settings);
  const hasServers = settings.isGiven("SPEECH_SERVERS");
  if (engine === "openai" && !hasServers) {
    settings.refuse("ENGINE", engine, "it needs the addresses of servers in SPEECH_SERVERS");
  }
  if ((engine === "moonshine" || engine === "whisper") && hasServers) {
    settings.refuse("ENGINE", engine, "it would leave the servers of SPEECH_SERVERS unused; auto uses them");
  }
  return { engine, speechServers };
}

/** One key for all servers, or one for each server. */
function readSpeechServers(settings: SettingsReader): SpeechServers | null {
  const urls = settings.list("SPEECH_SERVERS");
  const keys = settings.list("SPEECH_SERVER_KEYS");
  for (const url of urls) {
    const address = URL.canParse(url) ? new URL(url) : null;
    if (address?.protocol !== "http:" && address?.protocol !== "https:") {
      settings.refuse("SPEECH_SERVERS", url, "it must be addresses that begin with http: or https:");
    } else if (address.username || address.password) {
      const expected = "it must be addresses without a password; use SPEECH_SERVER_KEYS for credentials";
      settings.refuse("SPEECH_SERVERS", url, expected);
    }
  }
  if (urls.length === 0) {
    for (const name of ["SPEECH_SERVER_KEYS", "SPEECH_SERVER_MODEL"] as const) {
      if (settings.isGiven(name)) {
        settings.refuse(name, settings.text(name) ?? "", "it requires SPEECH_SERVERS");
      }
    }
    return null;
  }
  if (keys.length > 1 && keys.length !== urls.length) {
    settings.refuse(
      "SPEECH_SERVER_KEYS",
      "…",
      `it must be one key, or one for each of ${urls.length} servers`,
    );
  }
  return {
    servers: urls.map((url, place) => ({ url, apiKey: keys[place] ?? keys[0] ?? null })),
    model: settings.text("SPEECH_SERVER_MODEL") ?? "",
  };
}

/** Name of a model of the catalog, or an absolute path. */
export function readWhisperModel(settings: SettingsReader): string {
  const model = settings.text("WHISPER_MODEL") ?? "";
  if (!isAbsolute(model) && !knownModel(model)) {
    const names = KNOWN_MODELS.map(({ name }) => name).join(", ");
    settings.refuse("WHISPER_MODEL", model, `it must be an absolute path or one of ${names}`);
  }
  return model;
}

/** Without a trailing slash. */
export function readModelHubUrl(settings: SettingsReader): string {
  const url = settings.url("MODEL_HUB_URL", ["http:", "https:"]) ?? "";
  if (/^\w+:\/\/[^/]*@|[?#]/.test(url)) {
    settings.refuse("MODEL_HUB_URL", url, "it must be an address alone; use MODEL_HUB_TOKEN for credentials");
  }
  return url.replace(/\/+$/, "");
}
