import { isIntegerIn, type JsonFile, shortened } from "./json-file.ts";
import type { Vocabulary } from "./tokenizer-files.ts";

/** Null for tokens that the model does not have. */
export interface WhisperTokens {
  start: number;
  end: number;
  /** Null for English-only models, whose prompts contain neither language nor task. */
  transcribe: number | null;
  noTimestamps: number | null;
  noSpeech: number | null;
  /** `<|0.00|>`. The other timestamps follow in steps of 0.02 s to the end of the window. */
  firstTimestamp: number | null;
  /** Precedes the text of earlier windows. */
  previous: number | null;
  /** Keyed by ISO 639-1 (or 639-3) code; empty for English-only models. */
  languages: ReadonlyMap<string, number>;
}

const LANGUAGE_TOKEN = /^<\|([a-z]{2,3})\|>$/;
/** Retired ISO 639 codes that a model's files may still use. */
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
  /** The folder's name, whose suffix `.en` identifies an English-only model if no file does. */
  name: string;
}

/**
 * Finds the special tokens in `generation_config.json`, `config.json` or the vocabulary, depending on the age of the
 * export.
 * @throws SpeechError `model_unusable` if the start or end token is missing or a number is invalid
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
    if (id === null) throw generation.unusable(`lacks ${key}, and ${vocabulary.path} lacks ${name}`);
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
    firstTimestamp: inVocabulary("<|0.00|>") ?? tokenAfter(noTimestamps, last),
    previous: stated("prev_sot_token_id", "<|startofprev|>"),
    languages,
  };
}

/** The vocabularies of older exports omit timestamps, although the models have them. */
function tokenAfter(noTimestamps: number | null, last: number): number | null {
  return noTimestamps !== null && noTimestamps < last ? noTimestamps + 1 : null;
}

/** Some files contain a list (`eos_token_id: [50257]`), of which the first token is used. */
function tokenOf(file: JsonFile, key: string, last: number): number | null {
  if (!file.has(key) || !Array.isArray(file.value(key))) return file.integer(key, 0, last);
  const first = file.list(key)?.[0];
  if (!isIntegerIn(first, 0, last)) throw file.unusable(`sets ${key} to ${shortened(file.value(key))}`);
  return first;
}

/**
 * English-only vocabularies also contain language tokens. If `is_multilingual` is missing, the prompt decides: only that
 * of a multilingual model begins with a language.
 */
function isMultilingual({ config, generation, name }: Sources, noTimestamps: number | null): boolean {
  const stated = generation.boolean("is_multilingual");
  if (stated !== null) return stated;
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
    throw generation.unusable(`lacks task_to_id, and ${vocabulary.path} lacks <|transcribe|>`);
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
      throw generation.unusable(`assigns the token ${shortened(id)} to the language ${shortened(text)}`);
    }
    languages.set(REPLACED_CODES.get(code) ?? code, id);
  }
  if (languages.size === 0) {
    throw generation.unusable(`lacks lang_to_id, and ${vocabulary.path} lacks tokens for languages`);
  }
  return languages;
}
