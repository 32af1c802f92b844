import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type MadeGraphs, madeDecoder, madeEncoder } from "./made-graphs.ts";
import { type MadeVocabulary, madeVocabulary } from "./made-vocabulary.ts";

/**
 * Builds synthetic models in the file format of Whisper exports that return scripted output. They replace real
 * exports, which are not available to the tests.
 */
export interface MadeWhisperOptions {
  /**
   * What the model outputs. If there are several scripts, the loudest pitch selects one: the mel bins are divided
   * evenly, the lowest for the first script. `pitchOf` returns a tone that selects a script.
   */
  scripts: readonly MadeScript[];
  /** Scripts that tokens switch to, keyed by token. With `{ "<|es|>": 1 }`, the prompt for Spanish selects script 1. */
  switches?: Record<string, number>;
  /** Tokens before the first step of a script. By default 4: `start`, language, `transcribe`, `notimestamps`. */
  promptTokens?: number;
  languages?: readonly string[];
  /** Tokens of `says` that may be parts of characters, as `writtenBytes` returns them. */
  writtenTokens?: readonly string[];
  /** As in `whisper-tiny.en`: the vocabulary names languages, but the prompt does not. */
  englishOnly?: boolean;
  /** Whether the vocabulary contains timestamps from `<|0.00|>` to the end of the window; true by default. */
  timestamps?: boolean;
  windowSeconds?: number;
  melBins?: number;
  maxTokens?: number;
  layers?: number;
  heads?: number;
  alignmentHeads?: readonly (readonly [layer: number, head: number])[];
  /** Omitted from `generation_config.json` if false. */
  statesAlignmentHeads?: boolean;
  attention?: MadeGraphs["attention"];
  attentionName?: MadeGraphs["attentionName"];
  valueType?: MadeGraphs["valueType"];
  cacheType?: MadeGraphs["cacheType"];
  eightBitProjection?: boolean;
  takesPositions?: boolean;
  /** Suffix of the graph files, such as `_quantized` or `_fp16`. */
  ending?: string;
  /** Folder of the graphs: that of the other files (`.`), or by default `onnx`. */
  graphFolder?: string;
  /** Fields that replace those of the files; undefined removes a field. */
  config?: Record<string, unknown>;
  generation?: Record<string, unknown>;
  preprocessor?: Record<string, unknown>;
}

interface MadeScript {
  /** Probabilities at the first position, such as those of `<|es|>` and `<|nospeech|>`. */
  detects?: Record<string, number>;
  /** The text ends after the last step. */
  says: readonly MadeStep[];
}

export interface MadeStep {
  /** The most likely token: ` hello`, `<|0.00|>`, `<|endoftext|>`. */
  token: string;
  /** 0.9 by default. What remains is divided evenly among the tokens that are not named. */
  probability?: number;
  others?: Record<string, number>;
  /** Seconds from the window's start that attention points at. */
  at?: number;
}

/** Steps that output the tokens in order, 0.2 s apart. */
export function steps(tokens: readonly string[], probability = 0.9): MadeStep[] {
  return tokens.map((token, index) => ({ token, probability, at: 0.1 + 0.2 * index }));
}

/** Writes a model into a folder, which is created if it is missing. */
export async function writeMadeWhisper(folder: string, options: MadeWhisperOptions): Promise<MadeVocabulary> {
  const languages = options.languages ?? ["en", "es", "pt"];
  const windowSeconds = options.windowSeconds ?? 30;
  const melBins = options.melBins ?? 80;
  const maxTokens = options.maxTokens ?? 64;
  const layers = options.layers ?? 2;
  const heads = options.heads ?? 2;
  const alignmentHeads = options.alignmentHeads ?? [[layers - 1, 0]];
  const vocabulary = madeVocabulary({
    languages,
    texts: options.scripts.flatMap(({ says }) =>
      says.flatMap(({ token, others }) => [token, ...Object.keys(others ?? {})]),
    ),
    ...(options.writtenTokens && { written: options.writtenTokens }),
    timestampsUntil: options.timestamps === false ? null : windowSeconds,
  });
  const melFrames = windowSeconds * 100;
  const graphs: MadeGraphs = {
    melBins,
    melFrames,
    encoderFrames: melFrames / 2,
    layers,
    heads,
    headSize: 4,
    vocabularySize: vocabulary.size,
    maxTokens,
    ...scriptTables(options, vocabulary, maxTokens),
    isAlignmentHead: (layer, head) => alignmentHeads.some(([l, h]) => l === layer && h === head),
    valueType: options.valueType ?? "float32",
    cacheType: options.cacheType ?? options.valueType ?? "float32",
    eightBitProjection: options.eightBitProjection ?? false,
    takesPositions: options.takesPositions ?? false,
    attention: options.attention ?? "tensors",
    attentionName:
      options.attentionName ?? ((layer) => `/model/decoder/layers.${layer}/encoder_attn/Softmax_output_0`),
  };

  const graphFolder = join(folder, options.graphFolder ?? "onnx");
  const ending = options.ending ?? "";
  await mkdir(graphFolder, { recursive: true });
  await writeFile(join(graphFolder, `encoder_model${ending}.onnx`), madeEncoder(graphs));
  await writeFile(join(graphFolder, `decoder_model_merged${ending}.onnx`), madeDecoder(graphs));

  const json = (name: string, value: unknown) => writeFile(join(folder, name), JSON.stringify(value));
  await json("config.json", {
    model_type: "whisper",
    vocab_size: vocabulary.size,
    num_mel_bins: melBins,
    d_model: heads * graphs.headSize,
    decoder_layers: layers,
    decoder_attention_heads: heads,
    max_source_positions: graphs.encoderFrames,
    max_target_positions: maxTokens,
    ...options.config,
  });
  await json("preprocessor_config.json", {
    feature_size: melBins,
    sampling_rate: 16_000,
    n_fft: 400,
    hop_length: 160,
    chunk_length: windowSeconds,
    n_samples: windowSeconds * 16_000,
    nb_max_frames: melFrames,
    ...options.preprocessor,
  });
  const tokenNumbers = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, vocabulary.id(name)]));
  await json("generation_config.json", {
    decoder_start_token_id: vocabulary.id("<|startoftranscript|>"),
    eos_token_id: vocabulary.id("<|endoftext|>"),
    no_timestamps_token_id: vocabulary.id("<|notimestamps|>"),
    is_multilingual: !options.englishOnly,
    ...(options.englishOnly
      ? {}
      : {
          lang_to_id: tokenNumbers(languages.map((language) => `<|${language}|>`)),
          task_to_id: {
            transcribe: vocabulary.id("<|transcribe|>"),
            translate: vocabulary.id("<|translate|>"),
          },
        }),
    ...(options.statesAlignmentHeads === false ? {} : { alignment_heads: alignmentHeads }),
    max_length: maxTokens,
    ...options.generation,
  });
  await json("tokenizer.json", {
    added_tokens: vocabulary.pieces
      .map((content, id) => ({ id, content, special: !/\d\|>$/.test(content) }))
      .slice(vocabulary.firstSpecial),
    model: {
      type: "BPE",
      vocab: Object.fromEntries(
        vocabulary.pieces.slice(0, vocabulary.firstSpecial).map((piece, id) => [piece, id]),
      ),
      merges: [],
    },
  });
  return vocabulary;
}

/** Samples that select a script of a synthetic model: a tone in its mel bins. */
export function pitchOf(script: number, scripts: number, seconds: number): Float32Array {
  const highest = mels(8_000);
  const hertz = hertzOf((highest * (script + 0.5)) / scripts);
  return Float32Array.from(
    { length: Math.round(seconds * 16_000) },
    (_, sample) => 0.5 * Math.sin((2 * Math.PI * hertz * sample) / 16_000),
  );
}

/** Slaney's mel scale: linear up to 1000 Hz, logarithmic above. */
function mels(hertz: number): number {
  return hertz < 1000 ? (hertz * 3) / 200 : 15 + (27 * Math.log(hertz / 1000)) / Math.log(6.4);
}

function hertzOf(mel: number): number {
  return mel < 15 ? (mel * 200) / 3 : 1000 * 6.4 ** ((mel - 15) / 27);
}

/** The logit of an impossible token. */
const LOWEST_LOGIT = -30;

function scriptTables(options: MadeWhisperOptions, vocabulary: MadeVocabulary, maxTokens: number) {
  const { scripts } = options;
  const promptTokens = options.promptTokens ?? 4;
  const logits = new Float32Array(scripts.length * maxTokens * vocabulary.size);
  const lookedAt = new Float32Array(scripts.length * maxTokens);
  for (const [number, { detects = {}, says }] of scripts.entries()) {
    for (let position = 0; position < maxTokens; position++) {
      const row = number * maxTokens + position;
      const step = says[position - promptTokens + 1];
      const ended: MadeStep = { token: "<|endoftext|>", probability: 0.99 };
      const { token, probability = 0.9, others, at } = step ?? ended;
      const probabilities = position === 0 ? detects : { ...others, [token]: probability };
      logits.set(logitsOf(probabilities, vocabulary), row * vocabulary.size);
      lookedAt[row] = (at ?? says.at(-1)?.at ?? 0) * 50;
    }
  }
  const switches = new Float32Array(vocabulary.size);
  for (const [token, script] of Object.entries(options.switches ?? {}))
    switches[vocabulary.id(token)] = script;
  return { logits, lookedAt, switches, scripts: scripts.length };
}

function logitsOf(probabilities: Record<string, number>, vocabulary: MadeVocabulary): Float32Array {
  const named = Object.entries(probabilities);
  const left = 1 - named.reduce((sum, [, probability]) => sum + probability, 0);
  const each = Math.log(Math.max(0, left) / (vocabulary.size - named.length));
  const logits = new Float32Array(vocabulary.size).fill(Math.max(LOWEST_LOGIT, each));
  for (const [token, probability] of named) {
    logits[vocabulary.id(token)] = Math.max(LOWEST_LOGIT, Math.log(probability));
  }
  return logits;
}
