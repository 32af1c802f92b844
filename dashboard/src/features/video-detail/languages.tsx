import type { LanguageStretchView } from "@subtext/server/admin/contract/video-detail";
import { clock, language } from "../../ui/format.ts";
import css from "./languages.module.css";
import { between } from "./texts.ts";

const COLOURS = 5;

/** Which language is spoken where, of a recording in which there are several. */
export function Languages({ stretches, duration }: { stretches: LanguageStretchView[]; duration: number }) {
  const languages = [...new Set(stretches.map((stretch) => stretch.language))];
  if (languages.length < 2) return null;
  const colour = (code: string) => languages.indexOf(code) % COLOURS;
  const shares = languages.map((code) => ({
    code,
    seconds: stretches
      .filter((stretch) => stretch.language === code)
      .reduce((sum, { start, end }) => sum + end - start, 0),
  }));
  return (
    <div className={css.languages}>
      <div className={css.languageBar} aria-hidden="true">
        {stretches.map(({ start, end, language: code }) => (
          <span
            key={start}
            data-colour={colour(code)}
            title={`${language(code)}, ${between(start, end)}`}
            style={{ left: `${(start / duration) * 100}%`, width: `${((end - start) / duration) * 100}%` }}
          />
        ))}
      </div>
      <ul className={css.languageNames} aria-label="Languages">
        {shares.map(({ code, seconds }) => (
          <li key={code} data-colour={colour(code)}>
            {language(code)} {clock(seconds)}
          </li>
        ))}
      </ul>
    </div>
  );
}
