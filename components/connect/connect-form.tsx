"use client";

import { useState } from "react";
import type { Authorization } from "#lib/contract/oauth";
import type { Overview } from "#lib/contract/portal";
import type { Venue } from "#lib/contract/primitives";
import { AuthCard } from "../auth/auth-card";
import { AuthDone } from "../auth/auth-form";
import { ExpiryField, expiryOf } from "../keys/expiry-field";
import { type ApiFailure, callPortal } from "../portal/api";
import { usePortal } from "../portal/read";
import { useTimeZone } from "../portal/time";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button, buttonClass } from "../ui/button";
import { FailureNotice } from "../ui/failure";
import { Radio } from "../ui/select";

/** A sign-in of a host that cannot be shown, and why. */
export function ConnectRefused({ reason }: { readonly reason: string }) {
  return (
    <AuthCard title="This agent cannot connect" lead="Nothing was sent to it.">
      <AuthDone>
        <p className="[overflow-wrap:anywhere]">{reason.replaceAll("`", "")}</p>
        <a href="/docs/mcp#connect-by-url" className={buttonClass("secondary")}>
          How agents connect
        </a>
      </AuthDone>
    </AuthCard>
  );
}

/** A host, which may be as long as a name can be. */
function Host({ children }: { readonly children: string }) {
  return <strong className="font-medium text-ink [overflow-wrap:anywhere]">{children}</strong>;
}

interface ConnectFormProps {
  readonly authorization: Authorization;
  readonly organisation: string;
  readonly email: string;
}

/** Asks whether a host may read the market for the account: with which prices, and until when. */
export function ConnectForm({ authorization, organisation, email }: ConnectFormProps) {
  const { name, host, returnsTo, isLocal, request } = authorization;
  const [venue, setVenue] = useState<Venue>("sandbox");
  const [leaving, setLeaving] = useState<"Connect" | "Decline">();
  const [notDeclined, setNotDeclined] = useState<ApiFailure>();
  const { data: overview } = usePortal<Overview>("overview");
  const zone = useTimeZone();
  const bodyOf = (form: FormData) => ({ request, venue: textOf(form, "venue"), expires_at: expiryOf(form, zone) });
  const { busy, errorOf, failure, formProps } = useSubmit<{ url: string }>({
    fields: ["venue", "expires_at"],
    form: "connect",
    bodyOf,
    send: (form) => callPortal("POST", "connections", bodyOf(form)),
    done: ({ url }) => {
      setLeaving("Connect");
      window.location.assign(url);
    },
  });
  const decline = async () => {
    setLeaving("Decline");
    const result = await callPortal<{ url: string }>("POST", "connections/decline", { request });
    if ("data" in result) return window.location.assign(result.data.url);
    setLeaving(undefined);
    setNotDeclined(result.failure);
  };
  return (
    <AuthCard
      title={`Connect ${name}`}
      lead={
        <>
          <Host>{host}</Host> asks to read market data for <Host>{organisation}</Host>.{" "}
          {organisation === email ? null : `You are signed in as ${email}.`}
        </>
      }
    >
      <form {...formProps} className="space-y-5">
        <fieldset>
          <legend className="mb-1.5 font-medium text-sm">Prices</legend>
          <div className="grid gap-2 sm:grid-cols-2">
            <Radio
              name="venue"
              value="sandbox"
              label="Sandbox"
              hint="Synthetic prices, 24/7."
              checked={venue === "sandbox"}
              onChange={() => setVenue("sandbox")}
            />
            <Radio
              name="venue"
              value="live"
              label="Live"
              hint={overview?.live_access === false ? "Your account has no access." : "Prices from the live feed."}
              disabled={overview?.live_access === false}
              checked={venue === "live"}
              onChange={() => setVenue("live")}
            />
          </div>
        </fieldset>
        <ExpiryField isRequired error={errorOf("expires_at")} />
        <p className="text-ink-soft text-sm leading-6">
          It gets a key of its own, with the scope <code className="font-mono text-[13px]">market:read</code>. Its requests count
          toward your limits and show in your logs. You can revoke the key under Keys at any time.
        </p>
        {isLocal ? (
          <div className="rounded-lg border border-warning/40 bg-surface p-4 text-sm leading-6">
            The key goes to a program on this computer, at <Host>{returnsTo}</Host>. Any program here can call itself {name}.
            Connect only if you started it yourself just now.
          </div>
        ) : (
          <p className="text-ink-soft text-sm leading-6">
            You return to <Host>{returnsTo}</Host>.
          </p>
        )}
        <FailureNotice failure={failure ?? notDeclined} />
        <div className="grid gap-2 sm:grid-cols-2">
          <Button onClick={decline} busy={leaving === "Decline"} disabled={busy || leaving === "Connect"}>
            Decline
          </Button>
          <Button type="submit" kind="primary" busy={busy || leaving === "Connect"} disabled={leaving === "Decline"}>
            Connect
          </Button>
        </div>
      </form>
    </AuthCard>
  );
}
