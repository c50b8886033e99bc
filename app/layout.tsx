import type { Metadata, Viewport } from "next";
import type { ReactNode } from "react";
import { SiteFooter } from "#components/site/footer";
import { SiteHeader } from "#components/site/header";
import "./globals.css";

export const metadata: Metadata = {
  title: { default: "Spotwire — market data you host yourself", template: "%s — Spotwire" },
  description: "Quotes, snapshots, klines and market hours for forex and metals, from a service you run yourself.",
};

export const viewport: Viewport = {
  colorScheme: "light dark",
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#f9fafb" },
    { media: "(prefers-color-scheme: dark)", color: "#0d1117" },
  ],
};

/** Every page: header, main, footer. */
export default function RootLayout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body className="flex min-h-dvh flex-col font-sans text-base leading-6 antialiased">
        <a
          href="#main"
          className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:bg-surface focus:px-3 focus:py-2"
        >
          Skip to content
        </a>
        <SiteHeader />
        <main id="main" className="mx-auto w-full max-w-6xl flex-1 px-4 py-10 sm:px-8 sm:py-16">
          {children}
        </main>
        <SiteFooter />
      </body>
    </html>
  );
}
