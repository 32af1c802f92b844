import type { ReactNode } from "react";
import { parts } from "../parts.ts";
import { translated } from "../translated.ts";

export const signIn = translated("signIn", {
  welcome: "Welcome to Subtext",
  notSetUp: "Subtext is not set up yet. Open the setup link printed in the server's terminal.",
  signIn: "Sign in",
  forgotPassword: (command: ReactNode) => parts`Forgot your password? Run ${command} on the server.`,
});
