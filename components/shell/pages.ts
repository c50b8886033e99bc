/** A link of the navigation. */
export interface PageLink {
  readonly href: string;
  readonly label: string;
  /** True for documents outside the portal that machines read: loaded as a document, never by the router. */
  readonly document?: boolean;
}

/** The kind of reader: not signed in, the owner of an account, or an operator. */
export type Reader = "guest" | "developer" | "operator";

/** The public pages, in the order a newcomer needs them. */
export const SITE_PAGES: readonly PageLink[] = [
  { href: "/markets", label: "Markets" },
  { href: "/data", label: "Data" },
  { href: "/docs", label: "Docs" },
  { href: "/playground", label: "Playground" },
  { href: "/status", label: "Status" },
];

/** What an installation offers to everybody. */
export interface Offered {
  /** Whether it has a page of plans. */
  readonly plans: boolean;
  /** Whether people can sign up without an invitation. */
  readonly signUp: boolean;
}

/** The public pages of an installation. */
export const sitePages = ({ plans }: Pick<Offered, "plans">): readonly PageLink[] =>
  plans ? [...SITE_PAGES, { href: "/plans", label: "Plans" }] : SITE_PAGES;

/** The pages for signed-in users, in the order of the navigation. */
export const DASHBOARD_PAGES: readonly PageLink[] = [
  { href: "/dashboard", label: "Overview" },
  { href: "/dashboard/keys", label: "Keys" },
  { href: "/dashboard/links", label: "Links" },
  { href: "/dashboard/usage", label: "Usage" },
  { href: "/dashboard/logs", label: "Logs" },
  { href: "/dashboard/webhooks", label: "Webhooks" },
  { href: "/dashboard/organisation", label: "Organisation" },
  { href: "/dashboard/account", label: "Account" },
];

/** The pages for operators. */
export const ADMIN_PAGES: readonly PageLink[] = [
  { href: "/admin", label: "Health" },
  { href: "/admin/accounts", label: "Accounts" },
  { href: "/admin/plans", label: "Plans" },
  { href: "/admin/billing", label: "Billing" },
  { href: "/admin/calendars", label: "Calendars" },
  { href: "/admin/feeds", label: "Feeds" },
  { href: "/admin/data", label: "Stored data" },
  { href: "/admin/incidents", label: "Incidents" },
  { href: "/admin/audit", label: "Audit log" },
  { href: "/dashboard", label: "Dashboard" },
];

const TO_ADMIN: PageLink = { href: "/admin", label: "Admin" };

/** Returns the dashboard's pages, with the way to the pages for operators where the reader may open them. */
export function dashboardPages(operator: boolean): readonly PageLink[] {
  return operator ? [...DASHBOARD_PAGES, TO_ADMIN] : DASHBOARD_PAGES;
}

/** Machine-readable descriptions of the service, and its docs. */
export const REFERENCE_PAGES: readonly PageLink[] = [
  { href: "/openapi.json", label: "OpenAPI", document: true },
  { href: "/asyncapi.json", label: "AsyncAPI", document: true },
  { href: "/licences", label: "Licences", document: true },
];

export const SIGN_IN: PageLink = { href: "/signin", label: "Sign in" };
export const SIGN_UP: PageLink = { href: "/signup", label: "Create an account" };

/** Pages for readers who are not signed in. */
export const guestPages = ({ signUp }: Pick<Offered, "signUp">): readonly PageLink[] => (signUp ? [SIGN_IN, SIGN_UP] : [SIGN_IN]);

/**
 * True for the link of the current page, or of the section it is in.
 * @param among the links beside it: a deeper one that matches as well is the better one
 */
export function isCurrentPage(href: string, path: string, among: readonly PageLink[] = []): boolean {
  const holds = (link: string) => path === link || path.startsWith(`${link}/`);
  return holds(href) && !among.some((other) => other.href.length > href.length && holds(other.href));
}
