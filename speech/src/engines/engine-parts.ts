/** Which engines there are to listen with. */
export interface EngineParts {
  /** The engine that comes with the package and knows English. */
  bundled: boolean;
  multilingual: MultilingualPart | null;
  /** Whether the bundled engine may take what is English beyond doubt. */
  bundledTakesEnglish: boolean;
  /** What helps where people speak a language that no engine knows: a sentence for people. */
  remedy: string;
}

export type MultilingualPart =
  | {
      kind: "whisper";
      /** Absolute. */
      folder: string;
    }
  | {
      kind: "openai";
      servers: { url: string; apiKey: string | null }[];
      model: string;
      /** As in `OpenAiOptions`: for programs that somebody sits before. */
      givesUpUnreached?: boolean;
    };
