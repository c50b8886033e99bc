"use client";

import { useMailDelivery } from "../portal/mail-delivery";
import { TEXT_LINK } from "./auth-card";

/** Where the link of an email is on an installation without a mail server; nothing where one sends it. */
export function NoMail() {
  const delivery = useMailDelivery();
  if (delivery === "server") return null;
  if (delivery === "outbox")
    return (
      <>
        This installation has no mail server. The email is in the {/* A page load: the emails are those of this moment. */}
        <a href="/outbox" className={TEXT_LINK}>
          outbox
        </a>
        .
      </>
    );
  return (
    <>
      This installation has no mail server, so no email was sent. The link is in the service&rsquo;s log: if you run it, look for{" "}
      <code className="whitespace-nowrap font-mono text-[13px]">email not sent</code> in its terminal; otherwise ask its operator.
    </>
  );
}
