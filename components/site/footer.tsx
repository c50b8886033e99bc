import type { Theme } from "#lib/contract/themes";
import { REFERENCE_PAGES, SITE_PAGES } from "../shell/pages";
import { ThemeSwitch } from "../shell/theme-switch";

/** The footer of every page: links to all public pages, at any width. */
export function SiteFooter({ theme }: { theme: Theme }) {
  return (
    <footer className="border-line border-t">
      <div className="mx-auto flex w-full max-w-(--page-width) flex-wrap items-center justify-between gap-x-8 gap-y-4 px-4 py-6 sm:px-8">
        <nav aria-label="Public pages">
          <ul className="flex flex-wrap gap-x-6 gap-y-2 text-sm">
            {[...SITE_PAGES, ...REFERENCE_PAGES].map(({ href, label }) => (
              <li key={href}>
                <a href={href} className="text-ink-soft hover:text-ink">
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <ThemeSwitch chosen={theme} />
        <p className="w-full text-ink-faint text-sm">
          Sandbox prices are synthetic. Nothing here is investment advice or an offer to trade.
        </p>
      </div>
    </footer>
  );
}
