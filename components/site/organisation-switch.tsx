"use client";

import { useEffect } from "react";
import { callPortal } from "../portal/api";
import { Select } from "../ui/select";
import type { SiteReader } from "./reader";

let channel: BroadcastChannel | undefined;
/** What the tabs of this browser tell each other after a switch. One for all choices of a page, because a channel does not hear itself. */
function tabs(): BroadcastChannel {
  channel ??= new BroadcastChannel("spotwire.organisation");
  return channel;
}

/**
 * The choice of the organisation that the reader works in, for readers with several. Every other tab loads again after a switch:
 * it would show the keys of one organisation and make them in another.
 */
export function OrganisationSwitch({ reader: { accountId, organisations } }: { reader: SiteReader }) {
  useEffect(() => {
    tabs().onmessage = () => window.location.reload();
  }, []);
  const switchTo = async (id: string) => {
    const result = await callPortal("POST", "organisations/current", { id });
    if ("failure" in result) return window.location.reload();
    tabs().postMessage(id);
    window.location.assign("/dashboard");
  };
  if (organisations.length < 2) return null;
  return (
    <div className="px-3 pb-2">
      <Select
        aria-label="Organisation"
        options={organisations.map(({ id, name }) => ({ value: id, label: name }))}
        value={accountId}
        onChange={switchTo}
      />
    </div>
  );
}
