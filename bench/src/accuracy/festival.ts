import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clip, decodeFile, type SpokenWord } from "./synthetic-speech.ts";

/**
 * Voices in Debian's festvox-kallpc16k, festvox-kdlpc16k and festvox-us-slt-hts: two male diphone voices and a female
 * HMM voice.
 */
export type FestivalVoice = "kal_diphone" | "ked_diphone" | "cmu_us_slt_arctic_hts";

export function hasFestival(): boolean {
  return spawnSync("festival", ["--version"]).error === undefined;
}

export class FestivalSpeaker {
  say(voice: FestivalVoice, text: string): Clip {
    const folder = mkdtempSync(join(tmpdir(), "festival-"));
    try {
      const wav = join(folder, "said.wav");
      const script = join(folder, "say.scm");
      writeFileSync(
        script,
        `(voice_${voice})
         (set! utterance (utt.synth (Utterance Text ${JSON.stringify(text)})))
         (utt.save.wave utterance ${JSON.stringify(wav)} 'riff)
         (mapcar
           (lambda (word)
             (format t "%s %f %f\\n" (item.name word) (item.feat word "word_start") (item.feat word "word_end")))
           (utt.relation.items utterance 'Word))`,
      );
      const spoken = execFileSync("festival", ["-b", script], { encoding: "utf8" });
      return { samples: decodeFile(wav), words: wordTimes(text, spoken) };
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
}

/**
 * Festival reports punctuation and "'s" as separate words, so entries that do not start with a letter are skipped. If
 * the number of entries still differs from the number of words, all times are null.
 */
function wordTimes(text: string, spoken: string): SpokenWord[] {
  const spans = [...spoken.matchAll(/^[a-z]\S* ([\d.]+) ([\d.]+)$/gim)].map(([, start, end]) => ({
    start: Number(start),
    end: Number(end),
  }));
  const words = text.match(/\S+/g) ?? [];
  return words.map((word, index) => {
    const span = spans.length === words.length ? spans[index] : undefined;
    return { word, start: span?.start ?? null, end: span?.end ?? null };
  });
}
