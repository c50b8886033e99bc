import type { Brand } from "#lib/brand";
import type { Theme } from "#lib/contract/themes";
import { type Offered, REFERENCE_PAGES, sitePages } from "../shell/pages";
import { ThemeSwitch } from "../shell/theme-switch";

const LINK = "inline-flex items-center text-ink-soft hover:text-ink pointer-coarse:min-h-11";

/** Ways to the support of the service. */
const SUPPORT = [
  ["url", "Support", ""],
  ["email", "Contact", "mailto:"],
] as const;

interface SiteFooterProps {
  readonly brand: Brand;
  readonly theme: Theme;
  readonly offered: Offered;
  readonly version: string;
  /** What was built of it; undefined in development. */
  readonly build: string | undefined;
}

/** The footer of every page: links to all public pages, at any width. */
export function SiteFooter({
  brand: { support, source, hasCredit, forOperators },
  theme,
  offered,
  version,
  build,
}: SiteFooterProps) {
  return (
    <footer className="border-line border-t">
      <div className="mx-auto flex w-full max-w-(--page-width) flex-wrap items-center justify-between gap-x-8 gap-y-4 px-4 py-6 sm:px-8">
        <nav aria-label="Public pages">
          <ul className="flex flex-wrap gap-x-6 gap-y-2 pointer-coarse:gap-y-0 text-sm">
            {[...sitePages(offered), ...REFERENCE_PAGES].map(({ href, label }) => (
              <li key={href}>
                <a href={href} className={LINK}>
                  {label}
                </a>
              </li>
            ))}
            {source === undefined ? null : (
              <li>
                <a href={source} className={LINK}>
                  Source code
                </a>
              </li>
            )}
            {SUPPORT.map(([name, label, scheme]) =>
              support[name] === undefined ? null : (
                <li key={name}>
                  <a href={`${scheme}${support[name]}`} className={LINK}>
                    {label}
                  </a>
                </li>
              ),
            )}
          </ul>
        </nav>
        <ThemeSwitch chosen={theme} />
        <div className="flex w-full flex-wrap justify-between gap-x-8 gap-y-2 text-ink-faint text-sm">
          <p>
            Sandbox prices are synthetic. Nothing here is investment advice or an offer to trade.
            {hasCredit ? " Runs on Spotwire." : ""}
          </p>
          <p>
            {forOperators ? (
              <a href="/changelog" className="hover:text-ink hover:underline">
                Version {version}
              </a>
            ) : (
              `Version ${version}`
            )}
            {build === undefined ? null : (
              <>
                , build <code className="font-mono text-[13px]">{build}</code>
              </>
            )}
          </p>
        </div>
      </div>
    </footer>
  );
}
