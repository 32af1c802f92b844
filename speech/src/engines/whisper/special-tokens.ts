import { isIntegerIn, type JsonFile, shortened } from "./json-file.ts";
import type { Vocabulary } from "./tokenizer-files.ts";

/** Special tokens; null if the model has none. */
export interface WhisperTokens {
  start: number;
  end: number;
  /** Null for an English-only model, whose prompt contains neither language nor task. */
  transcribe: number | null;
  noTimestamps: number | null;
  noSpeech: number | null;
  /** `<|0.00|>`; the next ones follow in steps of 0.02 s to the end of the window. */
  firstTimestamp: number | null;
  /** Precedes text of earlier windows. */
  previous: number | null;
  /** By ISO 639-1 (or 639-3) code; empty for an English-only model. */
  languages: ReadonlyMap<string, number>;
}

const LANGUAGE_TOKEN = /^<\|([a-z]{2,3})\|>$/;
/** Codes that ISO 639 has replaced but Whisper still uses. */
const REPLACED_CODES: ReadonlyMap<string, string> = new Map([
  ["iw", "he"],
  ["in", "id"],
  ["ji", "yi"],
  ["jw", "jv"],
]);

interface Sources {
  config: JsonFile;
  generation: JsonFile;
  vocabulary: Vocabulary;
  vocabularySize: number;
  /** Of the folder; its suffix marks an English-only model if no file does. */
  name: string;
}

/**
 * Finds the special tokens. Exports of different years state them in `generation_config.json`, in
 * `config.json`, or only in the vocabulary; they are searched in this order.
 * @throws SpeechError `model_unusable` if start or end are missing or numbers are invalid
 */
export function readSpecialTokens(sources: Sources): WhisperTokens {
  const { config, generation, vocabulary, vocabularySize } = sources;
  const last = vocabularySize - 1;
  const inVocabulary = (...names: string[]) =>
    names.map((name) => vocabulary.special.get(name)).find((id) => id !== undefined) ?? null;
  const stated = (key: string, ...names: string[]) =>
    tokenOf(generation, key, last) ?? tokenOf(config, key, last) ?? inVocabulary(...names);
  const required = (key: string, name: string) => {
    const id = stated(key, name);
    if (id === null) throw generation.unusable(`does not state ${key}, nor has ${vocabulary.path} ${name}`);
    return id;
  };

  const noTimestamps = stated("no_timestamps_token_id", "<|notimestamps|>");
  const multilingual = isMultilingual(sources, noTimestamps);
  const languages = multilingual ? languageTokens(sources) : new Map<string, number>();
  const transcribe = multilingual ? transcribeToken(sources) : null;
  return {
    start: required("decoder_start_token_id", "<|startoftranscript|>"),
    end: required("eos_token_id", "<|endoftext|>"),
    transcribe,
    noTimestamps,
    noSpeech: stated("nospeech_token_id", "<|nospeech|>", "<|nocaptions|>"),
    firstTimestamp: inVocabulary("<|0.00|>") ?? following(noTimestamps, last),
    previous: stated("prev_sot_token_id", "<|startofprev|>"),
    languages,
  };
}

/** The vocabularies of older exports omit the timestamps that the model has. */
function following(noTimestamps: number | null, last: number): number | null {
  return noTimestamps !== null && noTimestamps < last ? noTimestamps + 1 : null;
}

/** Some files list several (`eos_token_id: [50257]`); the first one is used. */
function tokenOf(file: JsonFile, key: string, last: number): number | null {
  if (!file.has(key) || !Array.isArray(file.value(key))) return file.integer(key, 0, last);
  const first = file.list(key)?.[0];
  if (!isIntegerIn(first, 0, last)) throw file.unusable(`states ${key} as ${shortened(file.value(key))}`);
  return first;
}

/**
 * English-only vocabularies contain the languages too. If `is_multilingual` is missing, the prompt decides:
 * it begins with a language only in multilingual models.
 */
function isMultilingual({ config, generation, name }: Sources, noTimestamps: number | null): boolean {
  const statedOutright = generation.boolean("is_multilingual");
  if (statedOutright !== null) return statedOutright;
  if (generation.has("lang_to_id")) return true;
  const prompt = generation.list("forced_decoder_ids") ?? config.list("forced_decoder_ids");
  const first = prompt?.find((entry) => Array.isArray(entry) && entry[0] === 1);
  if (Array.isArray(first) && noTimestamps !== null) return first[1] !== noTimestamps;
  return !name.endsWith(".en");
}

function transcribeToken({ generation, vocabulary, vocabularySize }: Sources): number {
  const stated = generation.object("task_to_id")?.integer("transcribe", 0, vocabularySize - 1);
  const token = stated ?? vocabulary.special.get("<|transcribe|>");
  if (token === undefined) {
    throw generation.unusable(`does not state task_to_id, nor has ${vocabulary.path} <|transcribe|>`);
  }
  return token;
}

function languageTokens({ generation, vocabulary, vocabularySize }: Sources): Map<string, number> {
  const stated = generation.object("lang_to_id");
  const languages = new Map<string, number>();
  for (const [text, id] of stated?.entries() ?? vocabulary.special) {
    const code = LANGUAGE_TOKEN.exec(text)?.[1];
    if (code === undefined && !stated) continue;
    if (code === undefined || !isIntegerIn(id, 0, vocabularySize - 1)) {
      throw generation.unusable(`gives the language ${shortened(text)} the token ${shortened(id)}`);
    }
    languages.set(REPLACED_CODES.get(code) ?? code, id);
  }
  if (languages.size === 0) {
    throw generation.unusable(`does not state lang_to_id, nor has ${vocabulary.path} tokens of languages`);
  }
  return languages;
}
