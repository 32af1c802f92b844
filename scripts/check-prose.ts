import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const PAGES = ["*.md", "*/README.md", "{docs,deploy}/**/*.md"];
/** Quotes a phrase that is not allowed. */
const EXEMPT = "docs/decisions/0053-flagged-words.md";
const MAX_SENTENCE_WORDS = 45;

/** Phrases that cspell cannot flag, because it checks single words, and what to write instead. */
const PHRASES: [RegExp, string][] = [
  [/\bcan not\b/i, "cannot"],
  [/\b(is|are|was|were) told\b/i, "is reported, is detected"],
  [/\b(is|are) (let be|left alone)\b/i, "is ignored, is left unchanged"],
  [/\b(makes?|gives?) way\b/i, "yields"],
  [/\b(goes|went) on\b/i, "continues, resumes"],
  [/\bas many as may be\b/i, "the limit is reached"],
  [/\b(please|simply|easily|obviously|of course)\b/i, "nothing instead"],
  [/\d %/, "the percent sign without a space"],
];

/** Returns one line for each phrase to replace and each sentence to split. */
export function findProseFaults(markdown: string): string[] {
  const text = markdown
    .replaceAll(/^\s*(`{3,})[^\n]*\n[\s\S]*?^\s*\1\s*$/gm, "")
    .replaceAll(/<!--[\s\S]*?-->/g, "")
    .replaceAll(/`[^`]*`/g, "Code");
  const phrases = PHRASES.flatMap(([phrase, instead]) => {
    const found = phrase.exec(text);
    return found ? [`"${found[0]}": write ${instead}`] : [];
  });
  return [...phrases, ...findLongSentences(text.replaceAll(/^\s*\|.*$/gm, ""))];
}

function findLongSentences(text: string): string[] {
  const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
  return text
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .flatMap((paragraph) => [...segmenter.segment(paragraph.replaceAll(/\s+/g, " "))])
    .map(({ segment }) => segment.trim())
    .filter((sentence) => sentence.split(" ").length > MAX_SENTENCE_WORDS)
    .map((sentence) => `more than ${MAX_SENTENCE_WORDS} words: ${sentence}`);
}

if (import.meta.main) {
  const pages = globSync(PAGES, { cwd: ROOT, exclude: ["**/node_modules"] }).sort();
  const faults = pages
    .filter((page) => page !== EXEMPT)
    .flatMap((page) =>
      findProseFaults(readFileSync(join(ROOT, page), "utf8")).map((fault) => `${page}: ${fault}`),
    );
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
