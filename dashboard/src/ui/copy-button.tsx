import { useState } from "react";
import { Button } from "./controls.tsx";
import { copyText } from "./copy-text.ts";
import { useSay } from "./toasts.tsx";

/** @param name of what is copied, for those who do not see what stands around the button */
export function CopyButton({ name, text, look }: { name: string; text: string; look?: "quiet" }) {
  const [isCopied, setCopied] = useState(false);
  const say = useSay();
  const copy = async () => {
    const done = await copyText(text);
    setCopied(done);
    if (!done) say("Your browser does not let this page copy; select the text and copy it by hand.");
  };
  return (
    <Button
      {...(look && { look })}
      aria-label={isCopied ? `Copied: ${name}` : `Copy: ${name}`}
      onPress={copy}
    >
      {isCopied ? "Copied" : "Copy"}
    </Button>
  );
}
