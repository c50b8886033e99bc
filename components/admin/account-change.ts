"use client";

import type { PortalAccount } from "#lib/contract/portal-admin";
import { callPortal } from "../portal/api";
import { type Submission, useSubmit } from "../portal/use-submit";
import { useToast } from "../ui/toast";

/** The props of a dialog about one account. */
export interface AccountDialogProps {
  /** As it was when the dialog opened: what is sent is a decision on that. */
  readonly account: PortalAccount;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

interface AccountChangeOptions {
  /** Names of the fields that show their own errors. */
  readonly fields?: readonly string[];
  readonly bodyOf: (form: FormData) => object;
  /** What is announced once it is done. */
  readonly said: string;
}

/** A form that changes an account, unless somebody else has changed it since it was read. */
export function useAccountChange(
  { account, onClose, onChange }: AccountDialogProps,
  { fields = [], bodyOf, said }: AccountChangeOptions,
): Submission {
  const announce = useToast();
  const whole = (form: FormData) => ({ ...bodyOf(form), revision: account.revision });
  return useSubmit({
    fields,
    form: "account",
    bodyOf: whole,
    send: async (form) => {
      const result = await callPortal("PATCH", `admin/accounts/${account.id}`, whole(form));
      // The page behind shows what it was.
      if ("failure" in result && result.failure.id === "conflict") onChange();
      return result;
    },
    done: () => {
      onClose();
      onChange();
      announce(said);
    },
  });
}
