import type { Theme } from "../shell/theme";
import { ThemeSwitch } from "../shell/theme-switch";

/** The bottom of every page. */
export function SiteFooter({ theme }: { theme: Theme }) {
  return (
    <footer className="border-line border-t">
      <div className="mx-auto flex w-full max-w-6xl items-center justify-between gap-6 px-4 py-5 sm:px-8">
        <p className="text-ink-faint text-sm">Sandbox prices are synthetic. Nothing here is advice, and no price is an offer.</p>
        <ThemeSwitch chosen={theme} />
      </div>
    </footer>
  );
}
