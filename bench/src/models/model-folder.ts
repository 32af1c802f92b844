import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Precision } from "@subtext/speech/models/precision";
import { type Dimensions, ENCODER_FRAMES, MAX_TOKENS, MEL_FRAMES } from "./dimensions.ts";
import { writeDecoder, writeEncoder } from "./whisper-graphs.ts";

const SUFFIXES = { int8: "_quantized", fp16: "_fp16", fp32: "" };
const LANGUAGES = ["en", "es"];
/** Start, language, task, no timestamps. */
const PROMPT_TOKENS = 4;
/** Number of heads whose attention follows the text, about as in published models. */
export const ALIGNMENT_HEADS = 8;

export interface ModelFolder {
  dimensions: Dimensions;
  encoder: Precision;
  decoder: Precision;
  /** Number of tokens, each a word, that the decoder outputs for every window. */
  textTokens: number;
  tokensPerSecond: number;
}

const FRAMES_PER_SECOND = 50;

/** Writes a model in the layout of the hub's ONNX community. */
export function writeModelFolder(folder: string, model: ModelFolder): void {
  const { dimensions, encoder, decoder, textTokens } = model;
  const { width, heads, encoderLayers, decoderLayers, melBins, vocabularySize } = dimensions;
  const special = [
    "<|endoftext|>",
    "<|startoftranscript|>",
    ...LANGUAGES.map((language) => `<|${language}|>`),
    "<|transcribe|>",
    "<|startofprev|>",
    "<|nospeech|>",
    "<|notimestamps|>",
  ];
  const words = vocabularySize - special.length;
  const tokens = Object.fromEntries(special.map((text, index) => [text, words + index]));
  const token = (text: string) => tokens[text]!;
  const scriptTokens = Array.from({ length: MAX_TOKENS }, (_, position) => {
    if (position === 0) return token("<|es|>");
    const index = position - (PROMPT_TOKENS - 1);
    return index >= 0 && index < textTokens ? 7 * index : token("<|endoftext|>");
  });

  const graphs = join(folder, "onnx");
  mkdirSync(graphs, { recursive: true });
  writeEncoder(join(graphs, `encoder_model${SUFFIXES[encoder]}.onnx`), dimensions, encoder);
  writeDecoder(join(graphs, `decoder_model_merged${SUFFIXES[decoder]}.onnx`), dimensions, decoder, {
    tokens: scriptTokens,
    framesPerToken: FRAMES_PER_SECOND / model.tokensPerSecond,
  });

  const json = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value));
  json("config.json", {
    model_type: "whisper",
    vocab_size: vocabularySize,
    num_mel_bins: melBins,
    d_model: width,
    encoder_layers: encoderLayers,
    decoder_layers: decoderLayers,
    decoder_attention_heads: heads,
    max_source_positions: ENCODER_FRAMES,
    max_target_positions: MAX_TOKENS,
  });
  json("preprocessor_config.json", {
    feature_size: melBins,
    sampling_rate: 16_000,
    n_fft: 400,
    hop_length: 160,
    chunk_length: 30,
    n_samples: 480_000,
    nb_max_frames: MEL_FRAMES,
  });
  json("generation_config.json", {
    decoder_start_token_id: token("<|startoftranscript|>"),
    eos_token_id: token("<|endoftext|>"),
    no_timestamps_token_id: token("<|notimestamps|>"),
    is_multilingual: true,
    lang_to_id: Object.fromEntries(
      LANGUAGES.map((language) => [`<|${language}|>`, token(`<|${language}|>`)]),
    ),
    task_to_id: { transcribe: token("<|transcribe|>") },
    alignment_heads: Array.from({ length: ALIGNMENT_HEADS }, (_, index) => [
      decoderLayers - 1 - (index % Math.ceil(decoderLayers / 2)),
      index % heads,
    ]),
  });
  json("tokenizer.json", {
    added_tokens: special.map((content) => ({ id: token(content), content, special: true })),
    model: {
      type: "BPE",
      vocab: Object.fromEntries(Array.from({ length: words }, (_, id) => [wordOf(id), id])),
      merges: [],
    },
  });
}

/** Returns a distinct word for each index, with the character that GPT-2's vocabulary writes for a space. */
function wordOf(index: number): string {
  const letters = [...index.toString(26)].map((digit) =>
    String.fromCharCode(97 + Number.parseInt(digit, 26)),
  );
  return `\u0120${letters.join("")}`;
}
