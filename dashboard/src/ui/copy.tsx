import { useState } from "react";
import { ui as texts } from "../messages/en/ui.ts";
import css from "./copy.module.css";
import { Button } from "./forms/controls.tsx";
import { useToast } from "./toasts/toasts.tsx";

/**
 * Copies text to the clipboard. Browsers do not provide `navigator.clipboard` on pages loaded over plain HTTP, which is
 * common in private networks. The function then uses a `copy` event.
 * @returns false if the browser does not allow copying
 */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  }
  let isCopied = false;
  const setData = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isCopied = true;
  };
  document.addEventListener("copy", setData, { capture: true });
  document.execCommand("copy");
  document.removeEventListener("copy", setData, { capture: true });
  return isCopied;
}

function CopyButton({ label, text, variant }: { label: string; text: string; variant?: "quiet" }) {
  const [isCopied, setCopied] = useState(false);
  const showToast = useToast();
  const copy = async () => {
    const succeeded = await copyText(text);
    setCopied(succeeded);
    if (!succeeded) showToast(texts.copyBlocked);
  };
  return (
    <Button
      {...(variant && { variant })}
      aria-label={isCopied ? texts.copiedWhat(label) : texts.copyWhat(label)}
      onPress={copy}
    >
      {isCopied ? texts.copied : texts.copy}
    </Button>
  );
}

/** @param props.keepLines scrolls instead of wrapping long lines */
export function CodeBlock({
  label,
  text,
  keepLines = false,
}: {
  label: string;
  text: string;
  keepLines?: boolean;
}) {
  return (
    <figure className={css.code} aria-label={label}>
      <figcaption className={css.codeHead}>
        {label}
        <CopyButton variant="quiet" label={label} text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it */}
      <pre tabIndex={0} data-keep-lines={keepLines || undefined}>
        {text}
      </pre>
    </figure>
  );
}

export function Secret({ label, value }: { label: string; value: string }) {
  return (
    <div className={css.secret}>
      <input aria-label={label} readOnly value={value} onFocus={(event) => event.currentTarget.select()} />
      <CopyButton label={label} text={value} />
    </div>
  );
}
