import type { Metadata } from "next";
import { headers } from "next/headers";
import { notFound } from "next/navigation";
import { signedInUser } from "#app/session";
import { Instant } from "#components/portal/time";
import { PageMain } from "#components/shell/page-main";
import { PageHead } from "#components/ui/card";
import { noteOutboxRead } from "#server/pages/audit";
import { portal } from "#server/pages/runtime";
import { ADDRESS_HEADER } from "#server/pages/visitor";

export const metadata: Metadata = { title: "Outbox", robots: { index: false } };
export const dynamic = "force-dynamic";

/**
 * Emails captured because no mail server is configured; never in production, because they contain links that sign people in.
 */
export default async function OutboxPage() {
  const { env, capturedMails: outbox } = portal();
  if (env.NODE_ENV === "production") notFound();
  await noteOutboxRead(portal(), await signedInUser(), (await headers()).get(ADDRESS_HEADER) ?? "");
  const mails = outbox.list();
  return (
    <PageMain>
      <PageHead title="Outbox">Emails captured by this process, newest first. Set SMTP_URL to send them instead.</PageHead>
      {mails.length === 0 ? (
        <p className="rounded-lg border border-line border-dashed p-6 text-ink-soft text-sm leading-6">
          No emails yet. Sign up, and the verification email appears here.
        </p>
      ) : null}
      {mails.map(({ to, subject, text, atMs }) => (
        <article key={`${atMs} ${to} ${subject}`} className="mb-4 rounded-lg border border-line bg-surface p-4 sm:p-5">
          <h2 className="font-medium">{subject}</h2>
          <p className="mt-1 text-ink-faint text-sm [overflow-wrap:anywhere]">
            to {to}, <Instant at={new Date(atMs).toISOString()} to="second" />
          </p>
          <pre className="mt-4 whitespace-pre-wrap font-mono text-[13px] leading-6 [overflow-wrap:anywhere]">
            {text.split(/(https?:\/\/\S+)/).map((part, index) =>
              index % 2 === 1 ? (
                <a key={part} href={part} className="text-accent underline">
                  {part}
                </a>
              ) : (
                part
              ),
            )}
          </pre>
        </article>
      ))}
    </PageMain>
  );
}
