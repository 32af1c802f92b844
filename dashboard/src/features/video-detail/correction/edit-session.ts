/** Edits by one person without a long break. The server keeps them in one revision. */
export interface EditSession {
  id: string;
  /** Time of the last change in milliseconds since the epoch. */
  changedAtMs: number;
}

/** Remembers the last edit session, so that closing and reopening the editor does not start another revision. */
export interface EditSessionStore {
  load(): EditSession | null;
  save(session: EditSession): void;
}

/** Stores the edit session of an operator and a video in the browser tab. */
export function tabEditSession(operatorId: string, videoId: string): EditSessionStore {
  const key = `subtext.edit-session.${operatorId}.${videoId}`;
  return {
    load() {
      try {
        const stored = sessionStorage.getItem(key);
        return stored === null ? null : JSON.parse(stored);
      } catch {
        return null;
      }
    },
    save(session) {
      try {
        sessionStorage.setItem(key, JSON.stringify(session));
      } catch {
        // The browser denies access, so the next visit starts another revision.
      }
    },
  };
}
