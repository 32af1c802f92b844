import type { setup as english } from "../en/setup.ts";
import { parts } from "../parts.ts";

export const setup: typeof english = {
  title: "Subtext einrichten",
  done: "Einrichtung abgeschlossen",
  doneHint: "Subtext ist bereits eingerichtet.",
  signInOrAsk: (signIn) =>
    parts`${signIn("Melden Sie sich an")} oder bitten Sie einen Inhaber um eine Einladung.`,
  openLink: "Öffnen Sie den Einrichtungslink, den der Server im Terminal ausgegeben hat.",
  createAccountAndEnvironment: "Erstellen Sie Ihr Konto und Ihre erste Umgebung.",
  createAccount: "Erstellen Sie Ihr Konto.",
  yourAccount: "Ihr Konto",
  yourEnvironment: "Ihre erste Umgebung",
  environmentName: "Name der Umgebung",
  defaultEnvironment: "Produktion",
  aiTranscription: "KI-Transkription",
  aiTranscriptionHint:
    "Neue Uploads werden automatisch transkribiert. Sie können dies jederzeit ausschalten.",
  speechEngine: "Spracherkennung",
  engine: "Engine",
  engineHint:
    "Whisper-Modelle beherrschen 99 Sprachen. Bis eines heruntergeladen ist, wird nur Englisch transkribiert. Um Ihren eigenen Transkriptionsserver zu verwenden, setzen Sie SPEECH_SERVERS.",
  bundledEngine: "Mitgeliefert – nur Englisch",
  recommended: (engine: string) => `${engine} (empfohlen)`,
  download: (size: string) => `Download ${size}`,
  memory: (size: string) => `Speicher ${size}`,
  estimatedSpeed: (speed: string) => `etwa ${speed} × Echtzeit (Schätzung)`,
  finish: "Einrichtung abschließen",
};
