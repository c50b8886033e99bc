"use client";

import type { PortalAccount } from "#lib/contract/portal-admin";
import { type ApiResult, callPortal } from "../portal/api";
import { type Submission, useSubmit } from "../portal/use-submit";
import { useToast } from "../ui/toast";

/** The props of a dialog about one account. */
export interface AccountDialogProps {
  /** The account as it was when the dialog opened. Its revision is sent with the change. */
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

type Done = Omit<AccountDialogProps, "account"> & Pick<AccountChangeOptions, "said">;

/** How a form about one account ends. @param send what it asks of the service */
export function useAccountAnswer({ onClose, onChange, said }: Done, send: (form: FormData) => Promise<ApiResult<unknown>>) {
  const announce = useToast();
  return {
    send: async (form: FormData) => {
      const result = await send(form);
      // The page behind shows what it was.
      if ("failure" in result && result.failure.id === "conflict") onChange();
      return result;
    },
    done: () => {
      onClose();
      onChange();
      announce(said);
    },
  };
}

/** A form that changes an account, unless somebody else has changed it since it was read. */
export function useAccountChange(
  { account, ...dialog }: AccountDialogProps,
  { fields = [], bodyOf, said }: AccountChangeOptions,
): Submission {
  const whole = (form: FormData) => ({ ...bodyOf(form), revision: account.revision });
  const answer = useAccountAnswer({ ...dialog, said }, (form) =>
    callPortal("PATCH", `admin/accounts/${account.id}`, whole(form)),
  );
  return useSubmit({ fields, form: "account", bodyOf: whole, ...answer });
}
