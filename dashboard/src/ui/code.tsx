import { CopyButton } from "./copy-button.tsx";
import css from "./form-fields.module.css";

/** Text for a machine, to be read and copied; of a program the lines stay whole. */
export function Code({ name, text, isProgram = false }: { name: string; text: string; isProgram?: boolean }) {
  return (
    <figure className={css.code} aria-label={name}>
      <figcaption className={css.codeHead}>
        {name}
        <CopyButton look="quiet" name={name} text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre tabIndex={0} data-program={isProgram || undefined}>
        {text}
      </pre>
    </figure>
  );
}
