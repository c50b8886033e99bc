import Link from "next/link";
import type { ReactNode } from "react";

/** Ways to go on, side by side. */
export function Cards({ children }: { children: ReactNode }) {
  return <div className="cards">{children}</div>;
}

/** One way: what the reader wants to do, and what they find there. */
export function Card({ href, title, children }: { href: string; title: string; children: ReactNode }) {
  return (
    <Link prefetch={false} href={href} className="card">
      <span className="card-title">{title}</span>
      <div>{children}</div>
    </Link>
  );
}

/** A numbered list of steps, done one after the other. */
export function Steps({ children }: { children: ReactNode }) {
  return <div className="steps">{children}</div>;
}
