import { createContext, useContext, useEffect, useId } from "react";

/** An action of the current page that the command palette lists. */
export interface PageCommand {
  name: string;
  run(): void;
}

/** Commands of the current page, keyed by the component that added them. A change does not rerender the open palette. */
export const PageCommandsContext = createContext(new Map<string, readonly PageCommand[]>());

/** Adds commands to the palette while the component is mounted, so they are available whenever its buttons are. */
export function usePageCommands(...commands: readonly PageCommand[]): void {
  const id = useId();
  const all = useContext(PageCommandsContext);
  useEffect(() => {
    all.set(id, commands);
  });
  useEffect(() => () => void all.delete(id), [all, id]);
}
