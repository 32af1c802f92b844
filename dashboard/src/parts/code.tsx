import { useState } from "react";
import { Button } from "../design/controls.tsx";
import css from "./choices.module.css";

/** Text for a machine, to be read and copied; of a program the lines stay whole. */
export function Code({ name, text, isProgram = false }: { name: string; text: string; isProgram?: boolean }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <figure className={css.code} aria-label={name}>
      <figcaption className={css.codeHead}>
        {name}
        <Button look="quiet" aria-label={`Copy: ${name}`} onPress={copy}>
          {copied ? "Copied" : "Copy"}
        </Button>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre tabIndex={0} data-program={isProgram || undefined}>
        {text}
      </pre>
    </figure>
  );
}
