import { translated } from "../translated.ts";

/** Labels of fields and buttons that several features use. */
export const forms = translated("forms", {
  name: "Name",
  email: "Email",
  password: "Password",
  passwordHint: (minLength: number) => `At least ${minLength} characters.`,
  cancel: "Cancel",
  save: "Save",
  chooseOne: "Choose at least one.",
});
