"use client";

import Link from "next/link";
import { useState } from "react";
import { WEBHOOK_DELIVERIES_MAX_COUNT, WEBHOOKS_PER_ACCOUNT_MAX_COUNT } from "#lib/contract/limits";
import { STATUS_FEED_PATH } from "#lib/contract/uptime";
import type { WebhookInfo } from "#lib/contract/webhooks";
import { SECOND_MS } from "#lib/units";
import { polling } from "../portal/polling";
import { usePortal } from "../portal/read";
import { Button } from "../ui/button";
import { PageHead } from "../ui/card";
import { FailureNotice } from "../ui/failure";
import { Skeleton } from "../ui/skeleton";
import { AddWebhook } from "./add-webhook";
import { WebhookCard } from "./webhook-card";

const POLL_MS = 5 * SECOND_MS;

/**
 * The account's webhooks for incidents and alerts, with the latest deliveries of each.
 * @param mayBuild whether the reader's role may add, test and remove them
 */
export function WebhooksView({ mayBuild }: { readonly mayBuild: boolean }) {
  const { data, error, mutate } = usePortal<{ items: readonly WebhookInfo[] }>("webhooks", polling(POLL_MS));
  const [adding, setAdding] = useState(false);
  const reload = () => void mutate();
  const full = (data?.items.length ?? 0) >= WEBHOOKS_PER_ACCOUNT_MAX_COUNT;
  return (
    <>
      <PageHead
        title="Webhooks"
        action={
          mayBuild ? (
            <Button kind="primary" disabled={data === undefined || full} onClick={() => setAdding(true)}>
              Add webhook
            </Button>
          ) : null
        }
      >
        Get a request when an incident on the{" "}
        <Link href="/status" className="text-accent underline">
          status page
        </Link>{" "}
        opens, is updated or is resolved, and when an alert about your keys or your quota is due.{" "}
        <Link href="/docs/webhooks" className="text-accent underline">
          How it works
        </Link>
        {full ? `. You have reached the limit of ${WEBHOOKS_PER_ACCOUNT_MAX_COUNT}.` : null}
      </PageHead>
      <FailureNotice failure={error} retry={reload} />
      {data === undefined && error === undefined ? <Skeleton className="h-48 w-full" /> : null}
      {data?.items.length === 0 ? (
        <div className="rounded-lg border border-line border-dashed p-6 text-ink-soft text-sm leading-6">
          No webhooks yet. {mayBuild ? "Add the URL of your receiver, or subscribe" : "Subscribe"} to the{" "}
          <a href={STATUS_FEED_PATH} className="text-accent underline">
            Atom feed
          </a>
          .
        </div>
      ) : (
        <div className="space-y-6">
          {data?.items.map((webhook) => (
            <WebhookCard key={webhook.id} webhook={webhook} mayBuild={mayBuild} onChange={reload} />
          ))}
        </div>
      )}
      {data === undefined || data.items.length === 0 ? null : (
        <p className="mt-4 text-ink-faint text-xs leading-5">
          The last {WEBHOOK_DELIVERIES_MAX_COUNT} deliveries of each are kept.
        </p>
      )}
      {adding ? <AddWebhook onAdded={reload} onClose={() => setAdding(false)} /> : null}
    </>
  );
}
