/**
 * Makes the header, the page and the footer wide. React moves it into the head, so that a browser knows the width before it draws
 * the first part of the page: a mark in the page itself would move the header as it arrives.
 */
export function WidePage() {
  return <meta name="page-width" content="wide" />;
}
