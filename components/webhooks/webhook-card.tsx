"use client";

import { useState } from "react";
import type { WebhookDelivery, WebhookInfo } from "#lib/contract/webhooks";
import { type ApiFailure, callPortal } from "../portal/api";
import { Instant } from "../portal/time";
import { Badge } from "../ui/badge";
import { Button } from "../ui/button";
import { Card } from "../ui/card";
import { ConfirmDialog } from "../ui/confirm-dialog";
import { FailureNotice } from "../ui/failure";
import { type Column, Table } from "../ui/table";
import { useToast } from "../ui/toast";
import { deliveryState, webhookState } from "./webhook-state";

function State({ tone, word }: ReturnType<typeof deliveryState>) {
  return <Badge tone={tone}>{word}</Badge>;
}

function Outcome({ delivery: { state, attempts, status, problem, next_at } }: { delivery: WebhookDelivery }) {
  if (state === "delivered") return <>Answered {status}</>;
  return (
    <>
      {problem ?? (attempts === 0 ? "Not sent yet." : "Being sent.")}
      {next_at === null || problem === null ? null : (
        <>
          {" "}
          Next attempt <Instant at={next_at} to="second" />.
        </>
      )}
    </>
  );
}

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  {
    head: "Event",
    grow: true,
    cell: (delivery) => (
      <>
        <code className="font-mono text-[13px]">{delivery.type}</code>
        <span className="block text-ink-soft text-xs leading-5 [overflow-wrap:anywhere]">
          <Outcome delivery={delivery} />
        </span>
      </>
    ),
  },
  { head: "State", cell: (delivery) => <State {...deliveryState(delivery)} /> },
  { head: "Attempts", numeric: true, from: "sm", cell: ({ attempts }) => attempts },
  { head: "Time", numeric: true, from: "sm", cell: ({ created_at }) => <Instant at={created_at} to="second" /> },
];

interface WebhookCardProps {
  readonly webhook: WebhookInfo;
  readonly mayBuild: boolean;
  readonly onChange: () => void;
}

/** A webhook: its state, what can be done with it, and its newest deliveries. */
export function WebhookCard({ webhook, mayBuild, onChange }: WebhookCardProps) {
  const { id, url, created_at, paused_because, deliveries } = webhook;
  const announce = useToast();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const [removing, setRemoving] = useState(false);
  const host = new URL(url).host;
  const { tone, word, problem, nextAt } = webhookState(webhook);

  async function act(action: "test" | "resume", done: string): Promise<void> {
    setBusy(true);
    const result = await callPortal<object>("POST", `webhooks/${id}/${action}`);
    setBusy(false);
    setFailure("failure" in result ? result.failure : undefined);
    if ("failure" in result) return;
    announce(done);
    onChange();
  }

  return (
    <Card>
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0">
          <h2 className="font-medium font-mono text-sm leading-6 [overflow-wrap:anywhere]">{url}</h2>
          <p className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-ink-faint text-xs leading-5">
            <State tone={tone} word={word} />
            <span>
              added <Instant at={created_at} />
            </span>
          </p>
        </div>
        {mayBuild ? (
          <div className="flex flex-wrap gap-2">
            <Button busy={busy} onClick={() => void act("test", "The test is on its way.")}>
              Send a test
            </Button>
            {paused_because === null ? null : (
              <Button busy={busy} onClick={() => void act("resume", "The webhook is active again.")}>
                Resume
              </Button>
            )}
            <Button kind="ghost" aria-label={`Remove the webhook to ${host}`} onClick={() => setRemoving(true)}>
              Remove
            </Button>
          </div>
        ) : null}
      </div>
      {paused_because === null ? null : <p className="mt-3 text-sm leading-6 [overflow-wrap:anywhere]">{paused_because}</p>}
      {problem === null ? null : (
        <p className="mt-3 text-sm leading-6 [overflow-wrap:anywhere]">
          {problem}{" "}
          {nextAt === null ? (
            "It is not tried again."
          ) : (
            <>
              Next attempt <Instant at={nextAt} to="second" />.
            </>
          )}
        </p>
      )}
      <div className="mt-4 space-y-3">
        <FailureNotice failure={failure} />
        <Table
          caption={`Deliveries to ${host}`}
          columns={COLUMNS}
          rows={deliveries}
          rowKey={(delivery) => delivery.id}
          empty="Nothing sent yet. Send a test to see whether your receiver answers."
        />
      </div>
      {removing ? (
        <ConfirmDialog
          title="Remove the webhook"
          description="Nothing more is sent to it, and its secret is forgotten."
          word={host}
          action="Remove the webhook"
          send={() => callPortal("DELETE", `webhooks/${id}`)}
          onDone={() => {
            setRemoving(false);
            onChange();
          }}
          onClose={() => setRemoving(false)}
        />
      ) : null}
    </Card>
  );
}
