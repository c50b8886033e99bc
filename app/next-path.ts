/** Where a sign-in leads unless it was asked for from elsewhere. */
const HOME = "/dashboard";
/** The parts of the portal that may be asked for: nothing else is worth coming back to. */
const OWN = /^\/(dashboard|admin|playground|docs)(?=$|[/?#])/;
/** Any base will do: it only shows whether a path leaves it. */
const BASE = "http://portal.invalid";

/** The path a sign-in leads to: one of our own pages as it was asked for, else the dashboard. Never an address elsewhere. */
export function nextPath(asked: string | readonly string[] | undefined): string {
  if (typeof asked !== "string" || !asked.startsWith("/") || !URL.canParse(asked, BASE)) return HOME;
  const { origin, pathname, search } = new URL(asked, BASE);
  return origin === BASE && OWN.test(pathname) ? pathname + search : HOME;
}
