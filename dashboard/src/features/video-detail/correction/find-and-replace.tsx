import { useDeferredValue, useMemo, useState } from "react";
import { correction as texts } from "../../../messages/en/correction.ts";
import { Button, Switch, TextField } from "../../../ui/forms/controls.tsx";
import type { EditedTranscript } from "./edited-transcript.ts";
import { findMatches, replaceAll } from "./replace-text.ts";
import css from "./transcript-editor.module.css";

const MAX_PREVIEWS = 50;

export function FindAndReplace({
  transcript,
  durationSeconds,
  onChange,
}: {
  transcript: EditedTranscript;
  durationSeconds: number;
  onChange(transcript: EditedTranscript): void;
}) {
  const [text, setText] = useState("");
  const [replacement, setReplacement] = useState("");
  const [matchCase, setMatchCase] = useState(false);
  const searched = useDeferredValue(text);
  const matches = useMemo(
    () => findMatches(transcript, { text: searched, matchCase }),
    [transcript, searched, matchCase],
  );
  return (
    <section className={css.find} aria-label={texts.findAndReplace}>
      <div className={css.fields}>
        <TextField label={texts.find} value={text} onChange={setText} autoFocus />
        <TextField label={texts.replaceWith} value={replacement} onChange={setReplacement} />
      </div>
      <div className={css.findActions}>
        <Switch isSelected={matchCase} onChange={setMatchCase}>
          {texts.matchCase}
        </Switch>
        <span role="status">{searched.trim() !== "" && texts.matches(matches.length)}</span>
        <Button
          isDisabled={matches.length === 0}
          onPress={() =>
            onChange(replaceAll(transcript, { text: searched, matchCase }, { replacement, durationSeconds }))
          }
        >
          {texts.replaceAll}
        </Button>
      </div>
      {matches.length > 0 && (
        <ul className={css.matches} aria-label={texts.preview}>
          {matches.slice(0, MAX_PREVIEWS).map(({ before, match, after }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: matches have no identity
            <li key={index}>
              {before}
              <del>{match}</del>
              {replacement !== "" && <ins>{replacement}</ins>}
              {after}
            </li>
          ))}
          {matches.length > MAX_PREVIEWS && <li>{texts.more(matches.length - MAX_PREVIEWS)}</li>}
        </ul>
      )}
    </section>
  );
}
