import { runningPortal } from "./runtime";

/** The installation's terms and privacy policy, which new users accept; none before the service is up. */
export function termsOf(): { readonly terms: string | undefined; readonly privacy: string | undefined } {
  const env = runningPortal()?.env;
  return { terms: env?.TERMS_URL, privacy: env?.PRIVACY_URL };
}

/** Who may sign up; everybody before the service is up. */
export function signUpMode(): "open" | "invited" | "closed" {
  return runningPortal()?.env.SIGNUP ?? "open";
}
