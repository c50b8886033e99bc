const TELL = "tell the operator of this installation";

/**
 * Why a sign-in came to nothing, and what to do next, by the `error` of the address it ends at: identifiers of
 * lib/contract/errors from our own checks, next-auth's names for what goes wrong with a provider.
 */
const WORDS: Readonly<Record<string, string>> = {
  // The same for an unknown address and a wrong password: nobody learns which accounts exist.
  CredentialsSignin: "That e-mail and password do not fit together. Try again, or set a new password below.",
  rate_limited: "Too many attempts. Wait a minute, then try again.",
  account_suspended: "This account is suspended. Contact the operator of this installation.",
  service_unavailable: "Accounts cannot be looked up just now. Try again in a minute.",
  internal_error: `Something broke on our side; it was logged. Try again in a minute. If it stays, ${TELL}.`,
  email_not_verified: "That provider does not vouch for your e-mail address. Verify it there, or sign in with a password.",
  csrf: "This page was open too long, or your browser keeps no cookies for it. Allow cookies, load the page again, then sign in.",
  AccessDenied: "The provider refused the sign-in, or it was cancelled there. Try again, or sign in another way.",
  OAuthSignin: `That provider cannot be reached. Try again in a minute, or sign in another way. If it stays, ${TELL}.`,
  OAuthCallback: "The sign-in at the provider was cancelled or took too long. Start again, or sign in another way.",
  Callback: "The provider let you in, but signing you in here failed. Start again, or sign in another way.",
  OAuthAccountNotLinked: "That e-mail belongs to an account with another way to sign in. Use the way you signed up with.",
  SessionRequired: "Your session has ended. Sign in again.",
  Configuration: `Signing in is not set up right here. Use another way, or ${TELL}.`,
};

/** The words for an `error`; of one nobody expected, what helps with most. */
export function signInWords(error: string): string {
  return Object.hasOwn(WORDS, error)
    ? (WORDS[error] ?? "")
    : `The sign-in did not come about. Try again. If it stays so, ${TELL}.`;
}
