/** A place to go to. */
export interface PageLink {
  readonly href: string;
  readonly label: string;
  /** True where it leaves the portal for what machines read: loaded as a document, never by the router. */
  readonly document?: boolean;
}

/** The signed-in part, in the order of its navigation. */
export const DASHBOARD_PAGES: readonly PageLink[] = [
  { href: "/dashboard", label: "Overview" },
  { href: "/dashboard/keys", label: "Keys" },
  { href: "/dashboard/usage", label: "Usage" },
  { href: "/dashboard/logs", label: "Logs" },
  { href: "/dashboard/account", label: "Account" },
];

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
