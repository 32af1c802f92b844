import { createContext, useContext, useEffect, useId } from "react";

/** An action of the shown page that the command palette lists. */
export interface PageCommand {
  name: string;
  run(): void;
}

/** Commands of the shown page, keyed by the component that added them. The palette reads them when it is opened. */
export const PageCommandsContext = createContext(new Map<string, readonly PageCommand[]>());

/** Adds commands to the palette while the component is shown, so that they exist exactly where its buttons do. */
export function usePageCommands(...commands: readonly PageCommand[]): void {
  const id = useId();
  const all = useContext(PageCommandsContext);
  useEffect(() => {
    all.set(id, commands);
  });
  useEffect(() => () => void all.delete(id), [all, id]);
}
