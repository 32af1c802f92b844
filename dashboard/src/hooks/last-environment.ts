const KEY = "subtext.environment";

/** The environment that was looked at last in this browser; null where nothing is kept. */
export function lastEnvironment(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function keepLastEnvironment(id: string): void {
  try {
    localStorage.setItem(KEY, id);
  } catch {
    // The first one is opened then.
  }
}
