/** The page to open after signing in by default. */
const HOME = "/dashboard";
/** The pages that a sign-in may return to. */
const OWN = /^\/(dashboard|admin|connect|playground|markets|data|docs|status|plans)(?=$|[/?#])/;
/** Any base works: it only shows whether a path leaves it. */
const BASE = "http://portal.invalid";

/** The path to open after signing in: the requested page if it is one of ours, else the dashboard. Never another site. */
export function nextPath(asked: string | readonly string[] | undefined): string {
  if (typeof asked !== "string" || !asked.startsWith("/") || !URL.canParse(asked, BASE)) return HOME;
  const { origin, pathname, search } = new URL(asked, BASE);
  return origin === BASE && OWN.test(pathname) ? pathname + search : HOME;
}
