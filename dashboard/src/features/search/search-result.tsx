import type { SearchPassageView, SearchVideoView } from "@subtext/server/admin/contract/search";
import { Link } from "@tanstack/react-router";
import { Fragment, memo } from "react";
import { search as texts } from "../../messages/en/search.ts";
import { formatAgo, formatClock, languageName } from "../../ui/format.ts";
import css from "./search-page.module.css";

export const SearchResult = memo(function SearchResult({
  environmentId,
  video,
  now,
}: {
  environmentId: string;
  video: SearchVideoView;
  now: number;
}) {
  const { videoId, filename, language, duration, createdAt, matchCount, passages } = video;
  const params = { environmentId, videoId };
  const facts = [
    formatAgo(createdAt, now),
    duration !== null && formatClock(duration),
    language !== null && languageName(language),
    matchCount > passages.length && texts.topShown(matchCount, passages.length),
  ];
  return (
    <article className={css.video}>
      <h2 className={css.name}>
        <Link to="/environments/$environmentId/videos/$videoId" params={params}>
          {filename ?? videoId}
        </Link>
      </h2>
      <p className={css.facts}>{facts.filter(Boolean).join(" · ")}</p>
      <ul>
        {passages.map((passage) => (
          <li key={passage.startSeconds}>
            <Link
              className={css.passage}
              to="/environments/$environmentId/videos/$videoId"
              params={params}
              search={{ t: passage.startSeconds }}
              preload={false}
              data-result=""
            >
              <span className={css.time}>{formatClock(Math.floor(passage.startSeconds))}</span>
              <Sentence passage={passage} language={language} />
            </Link>
          </li>
        ))}
      </ul>
    </article>
  );
});

function Sentence({
  passage: { text, marks },
  language,
}: {
  passage: SearchPassageView;
  language: string | null;
}) {
  const isIdentified = language !== null && language !== "und" && language !== "zxx";
  return (
    <span className={css.sentence} dir="auto" {...(isIdentified && { lang: language })}>
      {marks.map(([start, end], index) => (
        <Fragment key={start}>
          {text.slice(index === 0 ? 0 : marks[index - 1]![1], start)}
          <mark className={css.mark}>{text.slice(start, end)}</mark>
        </Fragment>
      ))}
      {text.slice(marks.at(-1)?.[1] ?? 0)}
    </span>
  );
}
