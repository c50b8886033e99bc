"use client";

import { useState } from "react";
import { KEY_NAME_MAX_CHARACTERS } from "#lib/contract/limits";
import type { BillingItem, BillingReport } from "#lib/contract/portal-billing";
import { callPortal } from "../portal/api";
import { countText } from "../portal/numbers";
import { usePortal } from "../portal/read";
import { Instant } from "../portal/time";
import { textOf, useSubmit } from "../portal/use-submit";
import { Button, buttonClass } from "../ui/button";
import { Figure, Figures, PageHead, Section } from "../ui/card";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { TextField } from "../ui/field";
import { ShownOnce } from "../ui/shown-once";
import { type Column, Table } from "../ui/table";

/** Operations named below a plan; the file has all. */
const NAMED_MAX_COUNT = 3;

const operationsText = ({ operations }: BillingItem) => {
  const used = operations.filter(({ units }) => units > 0);
  const named = used.slice(0, NAMED_MAX_COUNT).map(({ operation, units }) => `${operation} ${countText(units)}`);
  return used.length > NAMED_MAX_COUNT ? `${named.join(", ")} and ${used.length - NAMED_MAX_COUNT} more` : named.join(", ");
};

const COLUMNS: readonly Column<BillingItem>[] = [
  {
    head: "Account",
    grow: true,
    cell: (item) => (
      <>
        <span className="block font-medium [overflow-wrap:anywhere]">{item.account}</span>
        <span className="block text-ink-faint text-xs leading-5 md:hidden">{item.plan}</span>
        <span className="block text-ink-faint text-xs leading-5">{operationsText(item)}</span>
      </>
    ),
  },
  { head: "Plan", from: "md", cell: ({ plan }) => plan },
  { head: "Units", numeric: true, cell: ({ units }) => countText(units) },
  { head: "Requests", numeric: true, from: "sm", cell: ({ calls }) => countText(calls) },
  { head: "Connections", numeric: true, from: "lg", cell: ({ connections }) => countText(connections) },
  { head: "Messages", numeric: true, from: "md", cell: ({ messages }) => countText(messages) },
];

/** Creates a key for a program that reads usage, and shows its text once. */
function BillingKey({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState<string>();
  const { busy, errorOf, failure, formProps } = useSubmit<{ text: string }>({
    fields: ["name"],
    form: "billingKey",
    send: (form) => callPortal("POST", "admin/usage/keys", { name: textOf(form, "name").trim() }),
    done: (made) => setText(made.text),
  });
  return (
    <Dialog
      open
      sticky={text !== undefined}
      onOpenChange={onClose}
      title={text === undefined ? "Create a key for billing" : "Your new key"}
      description="It reads the usage of all accounts, and nothing else. It is listed with your other keys."
    >
      {text === undefined ? (
        <form {...formProps} className="space-y-5">
          <TextField
            label="Name"
            name="name"
            required
            maxLength={KEY_NAME_MAX_CHARACTERS}
            autoComplete="off"
            hint="For example the program that bills."
            error={errorOf("name")}
          />
          <DialogSubmit failure={failure} busy={busy} onCancel={onClose}>
            Create key
          </DialogSubmit>
        </form>
      ) : (
        <ShownOnce text={text} onDone={onClose} />
      )}
    </Dialog>
  );
}

/** Usage of all accounts in a month, which can be chosen. @param current the month that is now, as YYYY-MM */
export function BillingView({ current }: { readonly current: string }) {
  const [month, setMonth] = useState(current);
  const [making, setMaking] = useState(false);
  const { data, error, mutate } = usePortal<BillingReport>(`admin/usage?month=${month}`);
  const count = (value: number | undefined) => (value === undefined ? "–" : countText(value));
  const actions = (
    <div className="flex flex-wrap items-center gap-2">
      <Button onClick={() => setMaking(true)}>Create key</Button>
      <a href={`/api/portal/admin/usage?month=${month}&format=csv`} download className={buttonClass("secondary")}>
        Download CSV
      </a>
    </div>
  );
  return (
    <>
      <PageHead title="Billing" action={actions}>
        What accounts used in a UTC month. A month is closed an hour after its end; then it does not change any more.
      </PageHead>
      <div className="mb-6 max-w-60">
        <TextField
          label="Month"
          type="month"
          name="month"
          max={current}
          required
          value={month}
          onChange={({ target }) => target.value !== "" && setMonth(target.value)}
          hint={
            data === undefined ? (
              "Loading."
            ) : data.closed_at === null ? (
              "Open: it still changes."
            ) : (
              <>
                Closed <Instant at={data.closed_at} />.
              </>
            )
          }
        />
      </div>
      <Figures>
        <Figure label="Units" value={count(data?.total.units)} />
        <Figure label="REST requests" value={count(data?.total.calls)} />
        <Figure label="Stream connections" value={count(data?.total.connections)} note="opened" />
        <Figure label="Stream messages" value={count(data?.total.messages)} />
      </Figures>
      <Section title="By account and plan">
        <Table
          caption="Usage by account and plan"
          columns={COLUMNS}
          rows={data?.items}
          rowKey={({ account_id, plan }) => `${account_id} ${plan}`}
          failure={error}
          retry={() => void mutate()}
          empty={<p>Nothing was used in this month.</p>}
        />
      </Section>
      {making ? <BillingKey onClose={() => setMaking(false)} /> : null}
    </>
  );
}
