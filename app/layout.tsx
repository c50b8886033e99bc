import type { Metadata, Viewport } from "next";
import { cookies } from "next/headers";
import type { CSSProperties, ReactNode } from "react";
import { MailDeliveryProvider } from "#components/portal/mail-delivery";
import { OperatorDocsProvider } from "#components/portal/operator-docs";
import { TimeZoneProvider } from "#components/portal/time";
import { SiteFooter } from "#components/site/footer";
import { SiteHeader } from "#components/site/header";
import type { Brand } from "#lib/brand";
import type { PortalUser } from "#lib/contract/portal";
import { THEME_COOKIE, themeOf } from "#lib/contract/themes";
import { mailDelivery } from "#server/pages/mail-delivery";
import { PROGRAM } from "#server/pages/program";
import { hasPlansPage } from "#server/pages/public-plans";
import { runningPortal } from "#server/pages/runtime";
import { signUpMode } from "#server/pages/sign-up-rules";
import { brandHere } from "./brand";
import { mono, sans } from "./fonts";
import { readerAddress } from "./reader-address";
import { signedInUser } from "./session";
import "./globals.css";

/** What the header shows of a signed-in user, and browsers get. */
const readerOf = ({ email, operator, accountId, organisations }: PortalUser) => ({
  email,
  operator,
  accountId,
  organisations,
});

const WHAT = "Quotes, snapshots, klines and market hours for forex and metals";
const CARD = {
  url: "/brand/card.png",
  width: 1200,
  height: 630,
  alt: "Market data you host yourself: quotes, klines and market hours for forex and metals, over REST and streams.",
};

/** The pictures of tabs, home screens and shared links; another brand than the program's has no such card. */
function picturesOf({ isOwn, logo }: Brand): Pick<Metadata, "icons"> {
  if (isOwn) return { icons: { icon: logo === undefined ? "/brand/icon.svg" : "/brand/logo" } };
  const icon = [
    { url: "/favicon.ico", sizes: "any" },
    { url: "/brand/icon.svg", type: "image/svg+xml" },
  ];
  return { icons: { icon, apple: "/brand/apple-icon.png" } };
}

/** Names this service as the reader reached it, for links to pictures. */
export async function generateMetadata(): Promise<Metadata> {
  const brand = brandHere();
  const { name, isOwn, forOperators } = brand;
  return {
    metadataBase: new URL(await readerAddress()),
    title: {
      default: `${name} — market data ${forOperators ? "you host yourself" : "for forex and metals"}`,
      template: `%s — ${name}`,
    },
    description: `${WHAT}${forOperators ? ", from a service you run yourself" : ""}.`,
    openGraph: { siteName: name, type: "website", images: isOwn ? [] : [CARD] },
    twitter: { card: isOwn ? "summary" : "summary_large_image" },
    ...picturesOf(brand),
  };
}

/** The colours of the brand, for the whole page. Text on the ground of the accent is white in both themes. */
const colours = ({ accent }: Brand) =>
  accent && ({ "--accent": `light-dark(${accent.light}, ${accent.dark})`, "--accent-ground": accent.light } as CSSProperties);

export const viewport: Viewport = {
  colorScheme: "light dark",
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#f9fafb" },
    { media: "(prefers-color-scheme: dark)", color: "#0d1117" },
  ],
};

/** Every page: header, main part, footer. It reads cookies, so no page is prerendered. */
export default async function RootLayout({ children }: { children: ReactNode }) {
  const theme = themeOf((await cookies()).get(THEME_COOKIE)?.value);
  const user = await signedInUser();
  const brand = brandHere();
  const running = runningPortal();
  const offered = { plans: hasPlansPage(running), signUp: signUpMode() !== "closed" };
  return (
    <html
      lang="en"
      data-theme={theme === "system" ? undefined : theme}
      className={`${sans.variable} ${mono.variable}`}
      style={colours(brand)}
    >
      <body className="flex min-h-dvh flex-col font-sans text-base leading-6 antialiased">
        <a
          href="#main"
          className="sr-only focus:not-sr-only focus:fixed focus:z-40 focus:top-2 focus:left-2 focus:bg-surface focus:px-3 focus:py-2"
        >
          Skip to content
        </a>
        <TimeZoneProvider>
          <SiteHeader brand={brand} reader={user && readerOf(user)} offered={offered} />
          <MailDeliveryProvider delivery={running ? mailDelivery(running.env) : "server"}>
            <OperatorDocsProvider shown={brand.forOperators}>{children}</OperatorDocsProvider>
          </MailDeliveryProvider>
          <SiteFooter brand={brand} theme={theme} offered={offered} {...PROGRAM} />
        </TimeZoneProvider>
      </body>
    </html>
  );
}
