import { createRequire } from "node:module";
import * as player from "media-captions";
import { thousandths } from "./speech.ts";

interface StrictParser {
  parse(
    text: string,
    mode: "captions",
  ): {
    cues: { startTime: number; endTime: number; tree: { children: { type: string; value: string }[] } }[];
    errors: { message: string; line: number }[];
  };
}

// The package is CommonJS without types, and hides its exports from an import.
const { WebVTTParser } = createRequire(import.meta.url)("webvtt-parser") as {
  WebVTTParser: new (entities: Record<string, string>) => StrictParser;
};

interface PlayerCue {
  startTime: number;
  endTime: number;
}

// Its types re-export by paths without extensions, which Node's resolution does not follow.
const { parseText, tokenizeVTTCue } = player as unknown as {
  parseText(text: string, options: { type: "vtt"; strict: boolean }): Promise<{ cues: PlayerCue[] }>;
  tokenizeVTTCue(cue: PlayerCue): ({ type: "text"; data: string } | { type: "tag" })[];
};

/** What a parser made of a cue: times in seconds, its text with escapes undone. */
export interface ReadCue {
  start: number;
  end: number;
  text: string;
}

/** The W3C community's validating parser: cues, and every departure from the syntax. */
export function parseStrictly(vtt: string): { cues: ReadCue[]; errors: string[] } {
  const parser = new WebVTTParser({ "&amp;": "&", "&lt;": "<", "&gt;": ">" });
  const { cues, errors } = parser.parse(vtt, "captions");
  return {
    cues: cues.map((cue) => ({
      start: thousandths(cue.startTime),
      end: thousandths(cue.endTime),
      text: cue.tree.children.map((node) => (node.type === "text" ? node.value : `[${node.type}]`)).join(""),
    })),
    errors: errors.map((error) => `${error.line}: ${error.message}`),
  };
}

/** The parser of a player (Vidstack); throws at the first error. It knows no hours beyond 99. */
export async function parseAsPlayer(vtt: string): Promise<ReadCue[]> {
  const { cues } = await parseText(vtt, { type: "vtt", strict: true });
  return cues.map((cue) => ({
    start: thousandths(cue.startTime),
    end: thousandths(cue.endTime),
    text: tokenizeVTTCue(cue)
      .map((token) => (token.type === "text" ? token.data : `[${token.type}]`))
      .join(""),
  }));
}
