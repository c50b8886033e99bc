import Link from "next/link";
import { TEXT_LINK } from "#components/auth/auth-card";

/** Refuses an operator without a second factor, and names the way. */
export default function Forbidden() {
  return (
    <section className="max-w-prose">
      <p className="font-mono text-ink-faint text-sm">403</p>
      <h1 className="mt-2 font-semibold text-2xl leading-8 tracking-tight">Operators need a second factor</h1>
      <p className="mt-3 text-ink-soft text-sm leading-6">
        Add a passkey or an authenticator app under{" "}
        <Link href="/dashboard/account" className={TEXT_LINK}>
          Account
        </Link>
        . These pages open once you have one.
      </p>
    </section>
  );
}
