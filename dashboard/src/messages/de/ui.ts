import type { ui as english } from "../en/ui.ts";

export const ui: typeof english = {
  loading: "Wird geladen …",
  showMore: "Mehr anzeigen",
  notifications: "Benachrichtigungen",
  close: "Schließen",
  typeToConfirm: (text) => `Zur Bestätigung ${text} eingeben`,
  none: "Keine",
  noResults: "Keine Ergebnisse",
  unknownProblem: "Ein Fehler ist aufgetreten",
  pageFailed: (page) => `Die Seite „${page}“ konnte nicht angezeigt werden.`,
  tryAgain: "Erneut versuchen",
  notFound: "Seite nicht gefunden",
  notFoundHint: "Sie wurde möglicherweise verschoben oder gelöscht.",
  goToVideos: "Zu den Videos",
  forbidden: "Ihre Rolle umfasst diese Seite nicht. Bitten Sie einen Inhaber um Zugriff.",
  environmentGone: "Diese Umgebung existiert nicht mehr.",
  unreachable: "Der Server ist nicht erreichbar. Prüfen Sie Ihre Verbindung und ob Subtext läuft.",
  nothingAtAddress: "Unter dieser Adresse gibt es nichts.",
  unexpectedResponse: (status) =>
    `Unerwartete Antwort (HTTP ${status}). Versuchen Sie es gleich noch einmal.`,
  copy: "Kopieren",
  copied: "Kopiert",
  copyWhat: (label) => `Kopieren: ${label}`,
  copiedWhat: (label) => `Kopiert: ${label}`,
  copyBlocked:
    "Ihr Browser erlaubt dieser Seite das Kopieren nicht. Markieren und kopieren Sie den Text selbst.",
  keyboardShortcuts: "Tastenkürzel",
  enableSingleKeys: "Tastenkürzel mit einer Taste aktivieren",
};
