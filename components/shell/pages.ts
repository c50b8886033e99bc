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
  { href: "/docs", label: "Docs" },
  { href: "/playground", label: "Playground" },
  { href: "/status", label: "Status" },
];

/** The pages for signed-in users, in the order of the navigation. */
export const DASHBOARD_PAGES: readonly PageLink[] = [
  { href: "/dashboard", label: "Overview" },
  { href: "/dashboard/keys", label: "Keys" },
  { href: "/dashboard/usage", label: "Usage" },
  { href: "/dashboard/logs", label: "Logs" },
  { href: "/dashboard/account", label: "Account" },
];

/** The pages for operators. */
export const ADMIN_PAGES: readonly PageLink[] = [
  { href: "/admin", label: "Accounts" },
  { href: "/admin/plans", label: "Plans" },
  { href: "/admin/calendars", label: "Calendars" },
  { href: "/admin/feeds", label: "Feeds" },
  { href: "/admin/data", label: "Data" },
  { href: "/admin/audit", label: "Audit log" },
  { href: "/dashboard", label: "Dashboard" },
];

/** From the dashboard to the pages for operators, for readers who may open them. */
export const TO_ADMIN: PageLink = { href: "/admin", label: "Admin" };

/** Machine-readable descriptions of the service, and its docs. */
export const REFERENCE_PAGES: readonly PageLink[] = [
  { href: "/openapi.json", label: "OpenAPI", document: true },
  { href: "/asyncapi.json", label: "AsyncAPI", document: true },
];

/** Pages for readers who are not signed in. */
export const GUEST_PAGES: readonly PageLink[] = [
  { href: "/signin", label: "Sign in" },
  { href: "/signup", label: "Create an account" },
];
