import type { Metadata, Viewport } from "next";
import { cookies } from "next/headers";
import type { ReactNode } from "react";
import { SiteFooter } from "#components/site/footer";
import { SiteHeader } from "#components/site/header";
import { THEME_COOKIE, themeOf } from "#lib/contract/themes";
import { mono, sans } from "./fonts";
import { readerAddress } from "./reader-address";
import { signedInUser } from "./session";
import "./globals.css";

const TITLE = "Spotwire — market data you host yourself";

/** Names this service as the reader reached it, for links to pictures. */
export async function generateMetadata(): Promise<Metadata> {
  return {
    metadataBase: new URL(await readerAddress()),
    title: { default: TITLE, template: "%s — Spotwire" },
    description: "Quotes, snapshots, klines and market hours for forex and metals, from a service you run yourself.",
    openGraph: { siteName: "Spotwire", type: "website" },
    twitter: { card: "summary_large_image" },
  };
}

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
  return (
    <html lang="en" data-theme={theme === "system" ? undefined : theme} className={`${sans.variable} ${mono.variable}`}>
      <body className="flex min-h-dvh flex-col font-sans text-base leading-6 antialiased">
        <a
          href="#main"
          className="sr-only focus:not-sr-only focus:fixed focus:z-40 focus:top-2 focus:left-2 focus:bg-surface focus:px-3 focus:py-2"
        >
          Skip to content
        </a>
        <SiteHeader reader={user && { email: user.email, operator: user.operator }} />
        {children}
        <SiteFooter theme={theme} />
      </body>
    </html>
  );
}
