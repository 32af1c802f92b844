import { useState } from "react";
import { Button } from "../design/controls.tsx";
import css from "./choices.module.css";

/** Text for a machine, to be read and copied. */
export function Code({ name, text }: { name: string; text: string }) {
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
      <pre tabIndex={0}>{text}</pre>
    </figure>
  );
}
