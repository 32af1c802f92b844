import type { settings as english } from "../en/settings.ts";
import { formatNumber, plural } from "../numbers.ts";

const afterDays = (days: number) => `nach ${plural(days, "Tag", "Tagen")}`;
const videosOlderThan = (videos: number, orMore: boolean, days: number) =>
  `${plural(videos, "Video", "Videos")}${orMore ? " oder mehr" : ""}, älter als ${plural(days, "Tag", "Tage")}`;

export const settings: typeof english = {
  title: "Einstellungen",
  description: (environment) => `Einstellungen für ${environment}.`,
  environment: "Umgebung",
  ownersOnly: "Das kann nur ein Inhaber ändern.",
  wholeNumber: (max) => `Geben Sie eine ganze Zahl von 1 bis ${formatNumber(max)} ein.`,
  aiTranscription: "KI-Transkription",
  aiTranscriptionHint: "Untertitel, Wortzeiten und Text automatisch erstellen.",
  transcribeUploads: "Neue Uploads transkribieren",
  whenOn: "Gilt für neue Uploads. Vorhandene Videos ändern sich nicht.",
  whenOff:
    "Neue Uploads werden nicht transkribiert, auch wenn Sie dies später einschalten. Videos in der Warteschlange werden noch transkribiert.",
  turnedOn: "KI-Transkription eingeschaltet.",
  turnedOff: "KI-Transkription ausgeschaltet.",
  saved: {
    vocabulary: "Vokabular gespeichert.",
    retention: "Aufbewahrung gespeichert.",
    origins: "Zulässige Websites gespeichert.",
    weight: "Gewicht gespeichert.",
  },
  vocabulary: "Vokabular",
  vocabularyHint: "Namen und Produkte, die in neuen Transkripten richtig geschrieben werden sollen.",
  terms: "Begriffe",
  termsHint:
    "Einer pro Zeile, bis zu 100, die wichtigsten zuerst. Mehrsprachige Modelle und Transkriptionsserver verwenden sie.",
  retention: "Aufbewahrung",
  retentionHint: "Alte Videos automatisch löschen. Dies kann nicht rückgängig gemacht werden.",
  whatToDelete: "Was gelöscht wird",
  retentionOptions: {
    nothing: { name: "Alles behalten", hint: "Bis es manuell gelöscht wird." },
    recording: { name: "Aufnahmen löschen", hint: "Transkripte, Untertitel und Suche bleiben erhalten." },
    video: { name: "Videos löschen", hint: "Mit ihren Transkripten und Untertiteln." },
  },
  deleteAfter: "Löschen nach (Tagen)",
  deleteAfterHint:
    "Ab dem Ende oder Fehlschlagen der Transkription oder ab dem Upload. Videos in der Warteschlange bleiben erhalten.",
  deleteQuestion: { recording: "Alte Aufnahmen löschen?", video: "Alte Videos löschen?" },
  saveAndDelete: "Speichern und löschen",
  noneAffected: {
    recording: (days) =>
      `Derzeit sind keine Videos betroffen. Künftige Aufnahmen werden ${afterDays(days)} gelöscht.`,
    video: (days) =>
      `Derzeit sind keine Videos betroffen. Künftige Videos werden ${afterDays(days)} gelöscht.`,
  },
  affected: {
    recording: (videos, orMore, days) =>
      `In wenigen Minuten werden Aufnahmen gelöscht: ${videosOlderThan(videos, orMore, days)}. Dies kann nicht rückgängig gemacht werden. Transkripte und Untertitel bleiben erhalten.`,
    video: (videos, orMore, days) =>
      `In wenigen Minuten werden Videos mit Transkripten und Untertiteln gelöscht: ${videosOlderThan(videos, orMore, days)}. Dies kann nicht rückgängig gemacht werden.`,
  },
  uploads: "Uploads aus Browsern",
  uploadsHint: "Websites, die aus dem Browser hochladen dürfen (CORS).",
  allowedWebsites: "Zulässige Websites",
  originOptions: {
    any: {
      name: "Jede Website",
      hint: "Ein Upload braucht trotzdem einen API-Schlüssel oder eine signierte Upload-URL.",
    },
    listed: {
      name: "Nur diese Websites",
      hint: "Ihre eigenen Server und Programme können immer hochladen.",
    },
  },
  origins: "Origins",
  originsHint: "Einer pro Zeile, z. B. https://app.example.com. Leer lassen, um alle zu sperren.",
  queueWeight: "Gewicht in der Warteschlange",
  queueWeightHint:
    "Für eine Umgebung mit Gewicht 2 wird doppelt so viel transkribiert wie für eine mit Gewicht 1.",
  weight: "Gewicht",
};
