import { type Ref, useEffect, useRef, useState } from "react";
import { Input, Label, SearchField } from "react-aria-components";
import { ui } from "../../messages/en/ui.ts";
import { CloseIcon, SearchIcon } from "../icons.tsx";
import controls from "./controls.module.css";
import { Button } from "./controls.tsx";
import css from "./query-field.module.css";

const DEBOUNCE_MS = 180;

interface QueryFieldProps {
  className: string | undefined;
  texts: { label: string; placeholder: string };
  /** The query in the page's URL. */
  query: string;
  /** Called with the trimmed text, a short time after typing. */
  onChange(query: string): void;
  maxLength: number;
  inputRef?: Ref<HTMLInputElement>;
}

/** A search field whose text follows the page's URL: a link or the back button changes it, too. */
export function QueryField({ className, texts, query, onChange, maxLength, inputRef }: QueryFieldProps) {
  const [text, setText] = useState(query);
  const lastQuery = useRef(query);
  const change = useRef(onChange);
  change.current = onChange;
  useEffect(() => {
    if (query === lastQuery.current) return;
    lastQuery.current = query;
    setText(query);
  }, [query]);
  useEffect(() => {
    const next = text.trim();
    if (next === lastQuery.current.trim()) return;
    const timer = setTimeout(() => {
      lastQuery.current = next;
      change.current(next);
    }, DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <SearchField
      className={`${css.field} ${className}`}
      value={text}
      onChange={setText}
      maxLength={maxLength}
    >
      <Label className={controls.hidden ?? ""}>{texts.label}</Label>
      <SearchIcon />
      <Input
        className={css.input ?? ""}
        placeholder={texts.placeholder}
        enterKeyHint="search"
        {...(inputRef && { ref: inputRef, "data-initial-focus": "" })}
      />
      {text !== "" && (
        <Button variant="quiet" iconOnly aria-label={ui.clearSearch}>
          <CloseIcon />
        </Button>
      )}
    </SearchField>
  );
}
