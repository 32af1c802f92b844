import type { ReactNode } from "react";
import { parts } from "../parts.ts";
import { translated } from "../translated.ts";

export const setup = translated("setup", {
  title: "Set up Subtext",
  done: "All set up",
  doneHint: "Subtext is already set up.",
  signInOrAsk: (signIn: (label: string) => ReactNode) =>
    parts`${signIn("Sign in")}, or ask an owner for an invitation.`,
  openLink: "Open the setup link printed in the server's terminal.",
  createAccountAndEnvironment: "Create your account and your first environment.",
  createAccount: "Create your account.",
  yourAccount: "Your account",
  yourEnvironment: "Your first environment",
  environmentName: "Environment name",
  defaultEnvironment: "Production",
  aiTranscription: "AI Transcription",
  aiTranscriptionHint: "New uploads are transcribed automatically. You can turn this off at any time.",
  speechEngine: "Speech engine",
  engine: "Engine",
  engineHint:
    "Whisper models support 99 languages. Until one is downloaded, only English is transcribed. For your own transcription server, set SPEECH_SERVERS.",
  bundledEngine: "Bundled – English only",
  recommended: (engine: string) => `${engine} (recommended)`,
  download: (size: string) => `download ${size}`,
  memory: (size: string) => `memory ${size}`,
  estimatedSpeed: (speed: string) => `about ${speed} × real time (estimate)`,
  finish: "Finish setup",
});
