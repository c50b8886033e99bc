"use client";

import Link from "next/link";
import { Fragment, type ReactNode, useSyncExternalStore } from "react";
import useSWR from "swr";
import { type ApiFailure, callPortal, dataOf } from "../portal/api";
import { READ_DEFAULTS } from "../portal/read";
import { buttonClass } from "../ui/button";
import { FailureNotice } from "../ui/failure";
import { Skeleton } from "../ui/skeleton";
import { AuthCard, TEXT_LINK } from "./auth-card";

/** Where a reader goes on whose link from an email does not work. */
interface WayOut {
  readonly href: string;
  readonly label: string;
}

function onHashChange(listener: () => void): () => void {
  window.addEventListener("hashchange", listener);
  return () => window.removeEventListener("hashchange", listener);
}

/** The token in the address of this page, empty without one. Links that 0.1 sent have it in the query. */
function tokenHere(): string {
  const { hash, search } = window.location;
  return new URLSearchParams(hash.slice(1)).get("token") ?? new URLSearchParams(search).get("token") ?? "";
}

/** Replaces the form of a page that was opened without the token of its link. */
function IncompleteLink({ href, label }: WayOut) {
  return (
    <AuthCard title="This link is incomplete" lead="Open the link in the email again.">
      <Link href={href} className={buttonClass("primary")}>
        {label}
      </Link>
    </AuthCard>
  );
}

/** Stands for the form until the link was read. */
function OpeningLink({ children }: { children?: ReactNode }) {
  return (
    <AuthCard title="Opening your link" lead="This takes a moment.">
      {children ?? <Skeleton className="h-10" />}
    </AuthCard>
  );
}

interface MailLinkProps {
  readonly otherwise: WayOut;
  /** The form, with the token of the link. */
  readonly children: (token: string) => ReactNode;
}

/** The form of a page that a link in an email opens. Only the browser knows the token, which the server must not see in an address. */
export function MailLink({ otherwise, children }: MailLinkProps) {
  const token = useSyncExternalStore(onHashChange, tokenHere, () => undefined);
  if (token === undefined) return <OpeningLink />;
  if (token === "") return <IncompleteLink {...otherwise} />;
  // Another link to the same page changes the fragment only.
  return <Fragment key={token}>{children(token)}</Fragment>;
}

interface LinkReadProps<Data> {
  /** Below /api/portal; takes the token. */
  readonly path: string;
  readonly token: string;
  /** The form, with what the service says about the link. */
  readonly children: (data: Data) => ReactNode;
}

/** Asks the service about a link before it shows its form. */
export function LinkRead<Data>({ path, token, children }: LinkReadProps<Data>) {
  const read = async () => dataOf(await callPortal<Data>("POST", path, { token }));
  // What the form offers must not change while it is filled in.
  const options = { ...READ_DEFAULTS, revalidateOnReconnect: false };
  const { data, error, mutate } = useSWR<Data, ApiFailure>([path, token], read, options);
  if (data !== undefined) return children(data);
  return <OpeningLink>{error && <FailureNotice failure={error} retry={() => void mutate()} />}</OpeningLink>;
}

/** The foot of a form that uses the token of a link. */
export function LinkFoot({ href, label }: WayOut) {
  return (
    <>
      Link not working?{" "}
      <Link href={href} className={TEXT_LINK}>
        {label}
      </Link>
    </>
  );
}
