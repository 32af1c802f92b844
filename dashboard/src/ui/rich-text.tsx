import { createElement, Fragment, type ReactNode } from "react";

/** Renders a message that contains elements. */
export function RichText({ parts }: { parts: readonly ReactNode[] }) {
  return createElement(Fragment, null, ...parts);
}
