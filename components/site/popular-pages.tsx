import Link from "next/link";

const POPULAR = [
  { href: "/docs/quickstart", label: "Quickstart", text: "The first response in under a minute." },
  { href: "/docs/operations/klines", label: "Klines", text: "Parameters, response and errors of the klines call." },
  { href: "/docs/streaming", label: "Streaming", text: "Subscribe, resume and handle gaps." },
  { href: "/markets", label: "Markets", text: "Prices and charts of every instrument." },
  { href: "/playground", label: "Playground", text: "Try every call and stream in the browser." },
  { href: "/status", label: "Status", text: "The state of the service and of every market." },
] as const;

/** Where readers of an unknown address most likely wanted to go. */
export function PopularPages() {
  return (
    <section aria-labelledby="popular" className="mt-12">
      <h2 id="popular" className="font-medium">
        Popular pages
      </h2>
      <ul className="mt-3 grid gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-2 lg:grid-cols-3">
        {POPULAR.map(({ href, label, text }) => (
          <li key={href} className="relative bg-surface p-5 hover:bg-sunken/60">
            <Link prefetch={false} href={href} className="font-medium text-accent after:absolute after:inset-0">
              {label}
            </Link>
            <p className="mt-1 text-ink-soft text-sm leading-6">{text}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
