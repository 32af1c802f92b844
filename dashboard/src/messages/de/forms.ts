import type { forms as english } from "../en/forms.ts";

export const forms: typeof english = {
  name: "Name",
  email: "E-Mail",
  password: "Passwort",
  passwordHint: (minLength) => `Mindestens ${minLength} Zeichen.`,
  cancel: "Abbrechen",
  save: "Speichern",
  chooseOne: "Wählen Sie mindestens eine Option.",
};
