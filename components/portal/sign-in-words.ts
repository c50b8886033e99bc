const CONTACT = "contact the operator of this installation";

/**
 * Why a sign-in came to nothing, and what to do next, by the `error` of the address it ends at: identifiers of
 * lib/contract/errors from our own checks, next-auth's names for what goes wrong with a provider.
 */
const WORDS: Readonly<Record<string, string>> = {
  // The same for an unknown address and a wrong password: nobody learns which accounts exist.
  CredentialsSignin: "Wrong e-mail or password. Try again, or reset your password below.",
  rate_limited: "Too many attempts. Wait a minute, then try again.",
  account_suspended: "This account is suspended. Contact the operator of this installation.",
  service_unavailable: "Sign-in is temporarily unavailable. Try again in a minute.",
  internal_error: `Something went wrong, and the error was logged. Try again in a minute. If it happens again, ${CONTACT}.`,
  email_not_verified: "Your e-mail address isn't verified with that provider. Verify it there, or sign in with a password.",
  csrf: "This page expired, or your browser blocks its cookies. Allow cookies, reload the page, then sign in.",
  AccessDenied: "The provider rejected the sign-in, or you cancelled it. Try again, or sign in another way.",
  OAuthSignin: `Can't reach that provider. Try again in a minute, or sign in another way. If it happens again, ${CONTACT}.`,
  OAuthCallback: "The sign-in was cancelled or timed out at the provider. Try again, or sign in another way.",
  Callback: "The provider signed you in, but we couldn't. Try again, or sign in another way.",
  OAuthAccountNotLinked: "That e-mail belongs to an account with a different sign-in method. Use the one you signed up with.",
  SessionRequired: "Your session has expired. Sign in again.",
  Configuration: `This sign-in method is misconfigured. Use another one, or ${CONTACT}.`,
};

/** The words for an `error`; of one nobody expected, what helps with most. */
export function signInWords(error: string): string {
  return Object.hasOwn(WORDS, error) ? (WORDS[error] ?? "") : `Sign-in failed. Try again. If it happens again, ${CONTACT}.`;
}
