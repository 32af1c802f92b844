import { ProblemError } from "./request.ts";

/** Whether the service has answered that nobody is signed in here (any more). */
export function saysSignedOut(error: unknown): boolean {
  return error instanceof ProblemError && error.status === 401 && error.code !== "sign_in_failed";
}

/** For the address of the sign-in: where it leads afterwards. */
export function backTo(href: string): { next?: string } {
  return href === "/" ? {} : { next: href };
}
