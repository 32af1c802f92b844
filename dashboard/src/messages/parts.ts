import type { ReactNode } from "react";

/** A message with elements in it, for `RichText`: parts`Run ${command} on the server.` */
export function parts(texts: TemplateStringsArray, ...elements: ReactNode[]): ReactNode[] {
  return texts.flatMap((text, index) => (index < elements.length ? [text, elements[index]] : [text]));
}
