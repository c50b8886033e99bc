"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import type { PortalUser } from "#lib/contract/portal";
import { type SecondFactors as Factors, type NewRecoveryCodes, RECOVERY_CODES_COUNT } from "#lib/contract/second-factor";
import { usePortal } from "../portal/read";
import { Button } from "../ui/button";
import { Card } from "../ui/card";
import { FailureNotice } from "../ui/failure";
import { useToast } from "../ui/toast";
import { AuthenticatorApp } from "./authenticator-app";
import { Passkeys } from "./passkeys";
import { RecoveryCodes, RenewCodes } from "./recovery-codes";

/** Passkeys, the authenticator app and recovery codes. */
export function SecondFactors({ user, onChange }: { user: PortalUser; onChange: () => void }) {
  const { data: factors, error, mutate } = usePortal<Factors>("second-factors");
  const [codes, setCodes] = useState<readonly string[]>();
  const [renewing, setRenewing] = useState(false);
  const announce = useToast();
  const router = useRouter();
  const changed = (announcement: string, made?: NewRecoveryCodes) => {
    announce(announcement);
    if (made?.recovery_codes) setCodes(made.recovery_codes);
    void mutate();
    onChange();
    // Notices and dialogs of the layout depend on what the user has.
    router.refresh();
  };
  if (error !== undefined) return <FailureNotice failure={error} retry={() => void mutate()} />;
  const props = { factors, disabled: !user.emailVerified, onChange: changed };
  const hasAny = factors !== undefined && (factors.totp_since !== null || factors.passkeys.length > 0);
  return (
    <>
      <Passkeys {...props} />
      <div className="mt-4">
        <Card className="space-y-5">
          <AuthenticatorApp {...props} />
          <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 border-line border-t pt-5">
            <div className="min-w-0 text-sm leading-6">
              <h3 className="font-medium">Recovery codes</h3>
              <p className="text-ink-soft">
                {hasAny
                  ? `${factors.recovery_codes} of ${RECOVERY_CODES_COUNT} left. Each replaces a lost passkey or app once.`
                  : "You get them with your first passkey or app."}
              </p>
            </div>
            <Button disabled={!hasAny} onClick={() => setRenewing(true)}>
              New codes
            </Button>
          </div>
        </Card>
      </div>
      {user.emailVerified ? null : <p className="mt-3 text-ink-faint text-sm">Verify your email address first.</p>}
      {renewing ? (
        <RenewCodes
          onClose={() => setRenewing(false)}
          onMade={(made) => {
            setRenewing(false);
            changed("New recovery codes made.", { recovery_codes: made });
          }}
        />
      ) : null}
      {codes === undefined ? null : <RecoveryCodes codes={codes} onClose={() => setCodes(undefined)} />}
    </>
  );
}
