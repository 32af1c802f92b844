import { useDeferredValue, useEffect, useMemo, useState } from "react";
import { correction as texts } from "../../../messages/en/correction.ts";
import { videoDetail } from "../../../messages/en/video-detail.ts";
import { formatNumber } from "../../../messages/numbers.ts";
import { Button, Switch, TextField } from "../../../ui/forms/controls.tsx";
import type { EditedTranscript } from "./edited-transcript.ts";
import { findMatches, type Match, replaceAll, replaceMatch, type Search } from "./replace-text.ts";
import css from "./transcript-editor.module.css";

const MAX_PREVIEWS = 50;

export function FindAndReplace({
  transcript,
  durationSeconds,
  onChange,
  onShow,
  onEdit,
  onClose,
}: {
  transcript: EditedTranscript;
  durationSeconds: number;
  onChange(transcript: EditedTranscript): void;
  /** Scrolls to a match and highlights it; null clears the highlight. */
  onShow(match: Match | null): void;
  /** Places the caret in a match. */
  onEdit(match: Match): void;
  /** @param match the match that is shown */
  onClose(match: Match | null): void;
}) {
  const [text, setText] = useState("");
  const [replacement, setReplacement] = useState("");
  const [matchCase, setMatchCase] = useState(false);
  const searched = useDeferredValue(text);
  const search = useMemo(() => ({ text: searched, matchCase }), [searched, matchCase]);
  const matches = useMemo(() => findMatches(transcript, search), [transcript, search]);
  const [shown, setShown] = useState<{ transcript: EditedTranscript; search: Search; index: number } | null>(
    null,
  );
  const index = shown?.transcript === transcript && shown.search === search ? shown.index : -1;
  useEffect(() => onShow(matches[index] ?? null), [matches, index, onShow]);
  useEffect(() => () => onShow(null), [onShow]);

  const step = (by: 1 | -1) => {
    const from = index < 0 && by < 0 ? 0 : index;
    if (matches.length === 0) return;
    const next = (from + by + matches.length) % matches.length;
    setShown({ transcript, search, index: next });
    // The only match may have been scrolled out of view.
    if (next === index) onShow(matches[next]!);
  };
  /** Replaces the match that is shown, and shows the next one. */
  const replace = () => {
    const match = matches[index];
    if (!match) {
      step(1);
      return;
    }
    const changed = replaceMatch(transcript, match, { text: replacement, durationSeconds });
    const end = match.from + replacement.length;
    const left = findMatches(changed, search);
    const next = left.findIndex(
      ({ paragraph, from }) => paragraph > match.paragraph || (paragraph === match.paragraph && from >= end),
    );
    onChange(changed);
    setShown({ transcript: changed, search, index: Math.max(next, left.length === 0 ? -1 : 0) });
  };
  return (
    <section
      className={css.find}
      aria-label={texts.findAndReplace}
      // The fields do not let this event bubble.
      onKeyDownCapture={({ key, nativeEvent: { isComposing } }) => {
        if (key === "Escape" && !isComposing) onClose(matches[index] ?? null);
      }}
    >
      <div className={css.fields}>
        <TextField
          label={texts.find}
          value={text}
          onChange={setText}
          onKeyDown={({ key, shiftKey, nativeEvent: { isComposing } }) => {
            if (key === "Enter" && !isComposing) step(shiftKey ? -1 : 1);
          }}
          autoFocus
        />
        <TextField label={texts.replaceWith} value={replacement} onChange={setReplacement} />
      </div>
      <div className={css.findActions}>
        <Switch isSelected={matchCase} onChange={setMatchCase}>
          {texts.matchCase}
        </Switch>
        <span role="status">{searched.trim() !== "" && countText(matches.length, index)}</span>
        <div className={css.replace}>
          {/* Without matches, these are not disabled, because they would lose the focus. */}
          <Button onPress={replace}>{texts.replace}</Button>
          <Button
            onPress={() => onChange(replaceAll(transcript, search, { text: replacement, durationSeconds }))}
          >
            {texts.replaceAll}
          </Button>
        </div>
      </div>
      {matches.length > 0 && (
        <ul className={css.matches} aria-label={texts.preview}>
          {matches.slice(0, MAX_PREVIEWS).map((each, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: matches have no stable key
            <li key={place}>
              <button type="button" aria-current={place === index || undefined} onClick={() => onEdit(each)}>
                {each.before}
                <del>{each.match}</del>
                {replacement !== "" && <ins>{replacement}</ins>}
                {each.after}
              </button>
            </li>
          ))}
          {matches.length > MAX_PREVIEWS && <li>{texts.more(matches.length - MAX_PREVIEWS)}</li>}
        </ul>
      )}
    </section>
  );
}

function countText(count: number, index: number): string {
  return index < 0 ? texts.matches(count) : videoDetail.matchOf(index + 1, formatNumber(count));
}
