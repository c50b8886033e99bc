import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { runtime } from "#lib/runtime";

export const metadata: Metadata = { title: "Outbox", robots: { index: false } };
export const dynamic = "force-dynamic";

/** The mails that no server was set for; outside production alone, because they hold links that sign people in. */
export default function OutboxPage() {
  const { env, outbox } = runtime();
  if (env.NODE_ENV === "production") notFound();
  const mails = outbox.list();
  return (
    <main className="mx-auto max-w-3xl px-4 py-12">
      <h1 className="font-semibold text-2xl">Outbox</h1>
      <p className="mt-2">Mails of this process, newest first. Set SMTP_URL to send them.</p>
      {mails.length === 0 ? <p className="mt-8">No mail yet. Sign up, and its link shows here.</p> : null}
      {mails.map(({ to, subject, text, atMs }) => (
        <article key={`${atMs} ${to} ${subject}`} className="mt-8 border-t pt-4">
          <h2 className="font-medium">{subject}</h2>
          <p className="text-sm">
            to {to}, <time dateTime={new Date(atMs).toISOString()}>{new Date(atMs).toISOString()}</time>
          </p>
          <pre className="mt-4 whitespace-pre-wrap font-mono text-sm">
            {text.split(/(https?:\/\/\S+)/).map((part, index) =>
              index % 2 === 1 ? (
                <a key={part} href={part} className="underline">
                  {part}
                </a>
              ) : (
                part
              ),
            )}
          </pre>
        </article>
      ))}
    </main>
  );
}
