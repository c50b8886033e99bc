"use client";

import { useState } from "react";
import type { PortalAccount } from "#lib/contract/portal-admin";
import { countText } from "../portal/numbers";
import { numberOf } from "../portal/use-submit";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { Checkbox } from "../ui/select";
import { type AccountDialogProps, useAccountChange } from "./account-change";
import { HistoryField, PermissionFields, permissionsOf } from "./account-permissions";
import { ProviderTerms } from "./provider-terms";

/** Whether an account may use the live venue, and why. */
export function liveText({ live_access, plan_live_access }: PortalAccount): string {
  if (live_access) return "granted";
  return plan_live_access ? "by plan" : "none";
}

/** Values listed in a cell of the table; further ones are counted. */
const NAMED_MAX_COUNT = 3;

function namesText(values: readonly string[]): string {
  const named = values.slice(0, NAMED_MAX_COUNT).join(", ");
  return values.length > NAMED_MAX_COUNT ? `${named} and ${countText(values.length - NAMED_MAX_COUNT)} more` : named;
}

/** A short description of the instruments and the history that an account may read. */
export function readsText({ reads: { asset_classes, tickers, history_days } }: Pick<PortalAccount, "reads">): string {
  const bounds = [tickers, asset_classes].filter((values) => values !== null);
  const nothing = bounds.some(({ length }) => length === 0);
  const instruments = nothing ? "Nothing" : bounds.map(namesText).join(" in ") || "Everything";
  if (nothing || history_days === null) return instruments;
  return `${instruments}, ${countText(history_days)} ${history_days === 1 ? "day" : "days"}`;
}

/** What becomes of an account's live access by a choice. */
function effectOf({ live_access, name }: PortalAccount, live: boolean) {
  if (live === live_access) return { action: "Save", said: `Access of ${name} saved.`, kind: "primary" } as const;
  return live
    ? ({ action: "Grant live access", said: `Live access granted to ${name}.`, kind: "primary" } as const)
    : ({ action: "Withdraw live access", said: `Live access withdrawn from ${name}.`, kind: "danger" } as const);
}

/** Chooses what an account may read: the live venue, instruments and history. @param offered whether it begins with live access chosen */
export function AccountAccess({ offered, ...props }: AccountDialogProps & { readonly offered?: boolean }) {
  const { account, onClose } = props;
  const [live, setLive] = useState(offered ?? account.live_access);
  const { action, said, kind } = effectOf(account, live);
  const { busy, errorOf, failure, formProps } = useAccountChange(props, {
    fields: ["permissions", "history_days"],
    bodyOf: (form) => ({
      live_access: live,
      permissions: permissionsOf(form),
      history_days: numberOf(form, "history_days"),
    }),
    said,
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Access of ${account.name}`}
      description={`Applies to all keys of the account, within a second. Instruments and days count for the sandbox too. With its plan ${account.plan}, it reads now: ${readsText(account)}.`}
    >
      <form {...formProps} className="space-y-5">
        <div className="space-y-3">
          <Checkbox
            label="Live access"
            hint={
              account.plan_live_access
                ? `Its plan ${account.plan} gives it live access in any case.`
                : "It can make live keys and read this installation's live feed."
            }
            checked={live}
            onChange={() => setLive(!live)}
          />
          {live && !account.live_access ? <ProviderTerms /> : null}
          {kind === "danger" && !account.plan_live_access ? (
            <p className="text-ink-soft text-sm leading-6">
              Its live keys stop working and their streams close within a second. They work again as soon as you grant access.
            </p>
          ) : null}
        </div>
        <PermissionFields start={account.permissions} wrong={errorOf("permissions") !== undefined} />
        <HistoryField days={account.history_days} error={errorOf("history_days")} narrowed=" that its plan includes" />
        <DialogSubmit failure={failure} busy={busy} onCancel={onClose} kind={kind}>
          {action}
        </DialogSubmit>
      </form>
    </Dialog>
  );
}
