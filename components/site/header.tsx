import Link from "next/link";
import { Wordmark } from "#components/site/wordmark";

const LINKS = [
  { href: "/openapi.json", label: "OpenAPI" },
  { href: "/api/health", label: "Health" },
] as const;

/** The top of every page. The links leave the portal for what machines read, so they are plain anchors. */
export function SiteHeader() {
  return (
    <header className="border-line border-b">
      <div className="mx-auto flex h-14 w-full max-w-6xl items-center justify-between gap-6 px-4 sm:px-8">
        <Link href="/" className="flex items-center gap-2 font-semibold tracking-tight">
          <Wordmark />
        </Link>
        <nav aria-label="Main">
          <ul className="flex gap-6 text-ink-soft text-sm">
            {LINKS.map(({ href, label }) => (
              <li key={href}>
                <a href={href} className="hover:text-ink">
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      </div>
    </header>
  );
}
