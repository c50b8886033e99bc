/** A place to go to. */
export interface PageLink {
  readonly href: string;
  readonly label: string;
  /** True where it leaves the portal for what machines read: loaded as a document, never by the router. */
  readonly document?: boolean;
}

/** Who reads: nobody who is known, the owner of an account, or one who may also go to the operators' part. */
export type Reader = "guest" | "developer" | "operator";

/** The public pages, in the order a newcomer needs them. */
export const SITE_PAGES: readonly PageLink[] = [
  { href: "/docs", label: "Docs" },
  { href: "/playground", label: "Playground" },
  { href: "/status", label: "Status" },
];

/** The signed-in part, in the order of its navigation. */
export const DASHBOARD_PAGES: readonly PageLink[] = [
  { href: "/dashboard", label: "Overview" },
  { href: "/dashboard/keys", label: "Keys" },
  { href: "/dashboard/usage", label: "Usage" },
  { href: "/dashboard/logs", label: "Logs" },
  { href: "/dashboard/account", label: "Account" },
];

/** The operators' part. */
export const ADMIN_PAGES: readonly PageLink[] = [
  { href: "/admin", label: "Accounts" },
  { href: "/admin/plans", label: "Plans" },
  { href: "/admin/calendars", label: "Calendars" },
  { href: "/admin/feeds", label: "Feeds" },
  { href: "/admin/audit", label: "Audit log" },
  { href: "/dashboard", label: "Dashboard" },
];

/** From the dashboard to the operators' part, for those who may go there. */
export const TO_ADMIN: PageLink = { href: "/admin", label: "Admin" };

/** What describes the service to a reader. */
export const REFERENCE_PAGES: readonly PageLink[] = [
  { href: "/openapi.json", label: "OpenAPI", document: true },
  { href: "/asyncapi.json", label: "AsyncAPI", document: true },
];

/** Pages for those who have not signed in. */
export const GUEST_PAGES: readonly PageLink[] = [
  { href: "/signin", label: "Sign in" },
  { href: "/signup", label: "Create an account" },
];
