import { createContext, useContext, useEffect } from "react";

/** Reports whether the live updates of the page are connected. */
export const LiveUpdatesContext = createContext<(isLive: boolean) => void>(() => {});

/** Makes the shell around the page show that its live updates are disconnected. */
export function useReportLive(isLive: boolean): void {
  const report = useContext(LiveUpdatesContext);
  useEffect(() => {
    report(isLive);
    return () => report(true);
  }, [report, isLive]);
}
