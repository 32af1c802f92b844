import type { shell as english } from "../en/shell.ts";

export const shell: typeof english = {
  pages: {
    home: "Start",
    setup: "Einrichtung",
    join: "Beitreten",
    signIn: "Anmelden",
    environment: "Umgebung",
    videos: "Videos",
    video: "Video",
    search: "Suche",
    apiKeys: "API-Schlüssel",
    webhooks: "Webhooks",
    webhookEndpoint: "Webhook-Endpunkt",
    settings: "Einstellungen",
    operators: "Benutzer",
    system: "System",
    audit: "Audit-Protokoll",
    account: "Konto",
  },
  skipToContent: "Zum Inhalt springen",
  menu: "Menü",
  environmentPages: "Seiten",
  servicePages: "Dienst",
  connectionLost:
    "Verbindung unterbrochen. Sie wird wiederhergestellt … Die Daten sind möglicherweise veraltet.",
  signOut: "Abmelden",
  signOutQuestion: "Abmelden?",
  uploadsStop:
    "Es laufen noch Uploads. Sie werden jetzt angehalten und fortgesetzt, sobald Sie dieselben Dateien erneut hinzufügen.",
  theme: "Design",
  themes: { system: "System", light: "Hell", dark: "Dunkel" },
  environments: "Umgebungen",
  newEnvironment: "Neue Umgebung",
  chooseEnvironment: "Umgebung auswählen",
  switchEnvironment: (name) => `Umgebung: ${name ?? "keine"}. Wechseln`,
  controlKey: "Strg",
};
