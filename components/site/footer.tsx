/** The bottom of every page. */
export function SiteFooter() {
  return (
    <footer className="border-line border-t">
      <p className="mx-auto w-full max-w-6xl px-4 py-6 text-ink-faint text-sm sm:px-8">
        Sandbox prices are synthetic. Nothing here is advice, and no price is an offer.
      </p>
    </footer>
  );
}
