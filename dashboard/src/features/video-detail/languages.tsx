import type { LanguageSegmentView } from "@subtext/server/admin/contract/video-detail";
import { videoDetail as texts } from "../../messages/en/video-detail.ts";
import { formatClock, languageName } from "../../ui/format.ts";
import css from "./languages.module.css";
import { formatRange } from "./texts.ts";

const COLORS = 5;

/** Renders nothing for a recording in a single language. */
export function Languages({ segments, duration }: { segments: LanguageSegmentView[]; duration: number }) {
  const languages = [...new Set(segments.map((segment) => segment.language))];
  if (languages.length < 2) return null;
  const color = (code: string) => languages.indexOf(code) % COLORS;
  const shares = languages.map((code) => ({
    code,
    seconds: segments
      .filter((segment) => segment.language === code)
      .reduce((sum, { start, end }) => sum + end - start, 0),
  }));
  return (
    <div className={css.languages}>
      <div className={css.languageBar} aria-hidden="true">
        {segments.map(({ start, end, language: code }) => (
          <span
            key={start}
            data-color={color(code)}
            title={`${languageName(code)}, ${formatRange(start, end)}`}
            style={{ left: `${(start / duration) * 100}%`, width: `${((end - start) / duration) * 100}%` }}
          />
        ))}
      </div>
      <ul className={css.languageNames} aria-label={texts.languages}>
        {shares.map(({ code, seconds }) => (
          <li key={code} data-color={color(code)}>
            {languageName(code)} {formatClock(seconds)}
          </li>
        ))}
      </ul>
    </div>
  );
}
