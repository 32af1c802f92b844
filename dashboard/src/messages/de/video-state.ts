import type { videoState as english } from "../en/video-state.ts";
import { formatNumber } from "../numbers.ts";

export const videoState: typeof english = {
  states: {
    uploading: "Lädt hoch",
    pending: "Wartend",
    processing: "In Arbeit",
    completed: "Abgeschlossen",
    failed: "Fehlgeschlagen",
    skipped: "Übersprungen",
    untranscribed: "Ohne Transkript",
  },
  failures: {
    unreadable_media: {
      problem: "Dies ist keine gültige Mediendatei.",
      remedy: "Laden Sie das Original erneut hoch.",
    },
    unsupported_media: {
      problem: "Dies ist ein Bild, eine Wiedergabeliste oder eine ähnliche Datei ohne Aufnahme.",
      remedy: "Laden Sie die Aufnahme selbst hoch.",
    },
    undecodable_audio: {
      problem: "Der Ton ist verschlüsselt, beschädigt oder in einem nicht unterstützten Format.",
      remedy: "Exportieren Sie die Datei als MP4 (AAC) und laden Sie sie erneut hoch.",
    },
    media_too_long: {
      problem: "Die Aufnahme ist länger als zulässig.",
      remedy: "Erhöhen Sie MAX_DURATION_SECONDS oder laden Sie sie in Teilen hoch.",
    },
    language_unsupported: {
      problem: "Das installierte Modell unterstützt die gesprochene Sprache nicht.",
      remedy: "Installieren Sie ein mehrsprachiges Modell: {command} models pull",
    },
    language_undetermined: {
      problem:
        "Das installierte Modell hat in der Aufnahme nichts erkannt. Sie ist möglicherweise in einer anderen Sprache.",
      remedy: "Installieren Sie ein mehrsprachiges Modell und versuchen Sie es erneut: {command} models pull",
    },
    decoder_unavailable: {
      problem: "Es ist kein funktionierender Mediendecoder installiert.",
      remedy: "Installieren Sie ffmpeg auf dem Server.",
    },
    decoder_crashed: {
      problem: "Der Decoder ist abgestürzt.",
      remedy: "Versuchen Sie es erneut. Wenn es wieder fehlschlägt, kodieren Sie die Datei neu.",
    },
    model_unusable: {
      problem: "Eine Datei des Sprachmodells fehlt oder ist beschädigt.",
      remedy: "Installieren Sie Subtext neu oder laden Sie das Modell erneut herunter.",
    },
    model_not_found: {
      problem: "Das Sprachmodell ist nicht installiert.",
      remedy: "Führen Sie {command} models list aus und laden Sie ein Modell herunter.",
    },
    model_download_failed: {
      problem: "Das Sprachmodell konnte nicht heruntergeladen werden.",
      remedy:
        "Prüfen Sie die Netzwerkverbindung des Servers. Der Download wird an derselben Stelle fortgesetzt.",
    },
    model_corrupt: {
      problem: "Die Dateien des Sprachmodells sind beschädigt.",
      remedy: "Entfernen Sie das Modell und laden Sie es erneut herunter.",
    },
    model_store_failed: {
      problem: "In den Modellordner kann nicht geschrieben werden.",
      remedy: "Prüfen Sie MODELS_DIR und den freien Speicherplatz.",
    },
    engine_crashed: {
      problem: "Die Spracherkennung ist abgestürzt.",
      remedy: "Versuchen Sie es erneut. Details stehen im Serverprotokoll.",
    },
    engine_hung: {
      problem: "Die Spracherkennung reagiert nicht mehr.",
      remedy: "Versuchen Sie es erneut. Details stehen im Serverprotokoll.",
    },
    engine_out_of_memory: {
      problem: "Der Spracherkennung ist der Arbeitsspeicher ausgegangen.",
      remedy: "Erhöhen Sie SPEECH_MEMORY_LIMIT_MB oder wählen Sie ein kleineres Modell.",
    },
    insufficient_memory: {
      problem: "Für das Sprachmodell ist nicht genug Arbeitsspeicher vorhanden.",
      remedy: "Erhöhen Sie das Speicherlimit des Containers oder wählen Sie ein kleineres Modell.",
    },
    engine_refused: {
      problem: "Der Transkriptionsserver hat die Anfrage abgelehnt.",
      remedy: "Prüfen Sie URL, Schlüssel und Modell in den Einstellungen.",
    },
    engine_unavailable: {
      problem: "Der Transkriptionsserver ist nicht erreichbar.",
      remedy: "Prüfen Sie, ob er läuft und erreichbar ist.",
    },
    engine_answer_invalid: {
      problem: "Die Antwort des Transkriptionsservers ist ungültig.",
      remedy: "Prüfen Sie, ob er die Transkriptions-API von OpenAI unterstützt.",
    },
    storage_full: {
      problem: "Es ist kein Speicherplatz mehr frei.",
      remedy: "Geben Sie Speicherplatz frei und versuchen Sie es erneut.",
    },
    storage_unavailable: {
      problem: "Der Speicher ist nicht verfügbar.",
      remedy: "Prüfen Sie die Festplatte oder den Bucket des Servers.",
    },
    storage_object_denied: {
      problem: "Der Speicher verweigert den Zugriff auf die hochgeladene Datei.",
      remedy: "Korrigieren Sie die Dateirechte und versuchen Sie es erneut.",
    },
    storage_object_unusable: {
      problem: "Der Speicher kann die hochgeladene Datei nicht lesen.",
      remedy: "Prüfen Sie die Festplatte oder den Bucket oder laden Sie die Datei erneut hoch.",
    },
    storage_object_missing: {
      problem: "Die hochgeladene Datei fehlt.",
      remedy: "Laden Sie sie erneut hoch.",
    },
    worker_lost: {
      problem: "Worker sind bei der Verarbeitung dieses Videos mehrmals abgestürzt.",
      remedy: "Details stehen im Serverprotokoll.",
    },
    canceled: {
      problem: "Transkription abgebrochen.",
      remedy: "Eine Wiederholung setzt die Transkription an derselben Stelle fort.",
    },
  },
  seeLog: "Details stehen im Serverprotokoll.",
  skipReasons: {
    no_audio_track: "Keine Tonspur.",
    empty_audio_track: "Die Tonspur ist leer.",
    silent_audio_track: "Der Ton ist stumm. War das Mikrofon ausgeschaltet?",
  },
  nothingToTranscribe: "Nichts zu transkribieren.",
  transcriptionWasOff: "Die KI-Transkription war beim Upload ausgeschaltet.",
  waitingForModel:
    "Das installierte Modell unterstützt die gesprochene Sprache nicht. Ein mehrsprachiges wird heruntergeladen; danach wird die Transkription fortgesetzt.",
  languageNotRecognized: "Sprache nicht erkannt – kein Transkript",
  noSpeech: "Nichts Gesprochenes erkannt",
  inQueue: "In der Warteschlange",
  nextInQueue: "Als Nächstes an der Reihe",
  placeInQueue: (place) => `Platz ${formatNumber(place)} in der Warteschlange`,
  startsIn: (estimate) => `Wartezeit: ${estimate}`,
  placeAndStart: (place, estimate) => `${place} · Wartezeit: ${estimate}`,
  uploadOf: (name) => `Upload von ${name}`,
  transcriptionOf: (name) => `Transkription von ${name}`,
  partOf: (part, whole) => `${part} von ${whole}`,
  left: (duration) => `noch ${duration}`,
};
