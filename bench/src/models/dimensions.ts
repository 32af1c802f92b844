/** Dimensions of a published Whisper model, from its `config.json`. */
export interface Dimensions {
  width: number;
  heads: number;
  encoderLayers: number;
  decoderLayers: number;
  melBins: number;
  vocabularySize: number;
}

export const MEL_FRAMES = 3000;
export const ENCODER_FRAMES = 1500;
export const MAX_TOKENS = 448;

const SMALL_VOCABULARY = { melBins: 80, vocabularySize: 51_865 };
const LARGE = { width: 1280, heads: 20, encoderLayers: 32, melBins: 128, vocabularySize: 51_866 };

/** Smallest first. The names are those of the catalog, except for the distilled model, which is English only. */
export const DIMENSIONS: Readonly<Record<string, Dimensions>> = {
  "whisper-tiny": { width: 384, heads: 6, encoderLayers: 4, decoderLayers: 4, ...SMALL_VOCABULARY },
  "whisper-base": { width: 512, heads: 8, encoderLayers: 6, decoderLayers: 6, ...SMALL_VOCABULARY },
  "whisper-small": { width: 768, heads: 12, encoderLayers: 12, decoderLayers: 12, ...SMALL_VOCABULARY },
  "whisper-medium": { width: 1024, heads: 16, encoderLayers: 24, decoderLayers: 24, ...SMALL_VOCABULARY },
  "distil-large-v3": { ...LARGE, decoderLayers: 2 },
  "whisper-large-v3-turbo": { ...LARGE, decoderLayers: 4 },
  "whisper-large-v3": { ...LARGE, decoderLayers: 32 },
};
