let isSignedOut = false;

/** Opens the sign-in page for a reader who has signed out. */
export function leaveSignedOut(): void {
  isSignedOut = true;
  // The Back button may restore this page from the browser's memory, with this state.
  window.addEventListener(
    "pageshow",
    () => {
      isSignedOut = false;
    },
    { once: true },
  );
  window.location.assign("/signin");
}

/**
 * Sends the reader to the sign-in page, which leads back here. A read that fails because the reader has signed out does not: it
 * would replace the page that sign-out opens.
 */
export function leaveForSignIn(): void {
  if (isSignedOut) return;
  window.location.assign(`/signin?next=${encodeURIComponent(window.location.pathname + window.location.search)}`);
}
