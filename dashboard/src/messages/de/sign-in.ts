import type { signIn as english } from "../en/sign-in.ts";
import { parts } from "../parts.ts";

export const signIn: typeof english = {
  welcome: "Willkommen bei Subtext",
  notSetUp:
    "Subtext ist noch nicht eingerichtet. Öffnen Sie den Einrichtungslink, den der Server im Terminal ausgegeben hat.",
  signIn: "Anmelden",
  forgotPassword: (command) => parts`Passwort vergessen? Führen Sie ${command} auf dem Server aus.`,
};
