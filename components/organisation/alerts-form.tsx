import { ALERT_CHANNELS, ALERT_KINDS, ALERT_SWITCHES, ALERTS } from "#lib/contract/alerts";
import type { PortalOrganisation } from "#lib/contract/organisation";
import type { Role } from "#lib/contract/roles";
import { callPortal } from "../portal/api";
import { useMailDelivery } from "../portal/mail-delivery";
import { useSubmit } from "../portal/use-submit";
import { Button } from "../ui/button";
import { FailureNotice } from "../ui/failure";
import { useToast } from "../ui/toast";

const CHANNEL_WORDS: Record<(typeof ALERT_CHANNELS)[number], string> = { email: "Email", webhook: "Webhooks" };
const ROLE_PLURALS: Record<Role, string> = { owner: "owners", developer: "developers", billing: "billing", reader: "readers" };

interface AlertsFormProps {
  readonly organisation: Pick<PortalOrganisation, "alerts_off">;
  readonly onChange: () => void;
}

/** Which alerts are sent, by email and to webhooks. */
export function AlertsForm({ organisation: { alerts_off }, onChange }: AlertsFormProps) {
  const announce = useToast();
  const emails = useMailDelivery() === "server";
  const { busy, failure, formProps } = useSubmit({
    fields: [],
    send: (form) =>
      callPortal("PATCH", "organisation", { alerts_off: ALERT_SWITCHES.filter((one) => !form.getAll("on").includes(one)) }),
    done: () => {
      onChange();
      announce("The alerts were changed.");
    },
  });
  return (
    <form {...formProps} className="text-sm">
      {emails ? null : (
        <p className="mb-4 text-ink-soft leading-6">
          This installation has no mail server: nobody gets these emails. Webhooks are sent.
        </p>
      )}
      <div className="rounded-lg border border-line bg-surface">
        <table className="w-full">
          <caption className="sr-only">Alerts</caption>
          <thead>
            <tr className="border-line border-b text-ink-soft text-xs">
              <th scope="col" className="px-4 py-2 text-left font-medium">
                Alert
              </th>
              {ALERT_CHANNELS.map((channel) => (
                <th key={channel} scope="col" className="w-20 px-2 py-2 text-center font-medium">
                  {CHANNEL_WORDS[channel]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {ALERT_KINDS.map((kind) => {
              const { label, when, roles } = ALERTS[kind];
              return (
                <tr key={kind}>
                  <th scope="row" className="px-4 py-3 text-left font-normal leading-5">
                    <span className="block font-medium">{label}</span>
                    <span className="block text-ink-faint text-xs leading-5">
                      {when} Emailed to {roles.map((role) => ROLE_PLURALS[role]).join(" and ")}.
                    </span>
                  </th>
                  {ALERT_CHANNELS.map((channel) => (
                    <td key={channel} className="px-2 text-center">
                      <input
                        type="checkbox"
                        name="on"
                        value={`${kind}.${channel}`}
                        defaultChecked={!alerts_off.includes(`${kind}.${channel}`)}
                        aria-label={`${label}: ${CHANNEL_WORDS[channel]}`}
                        className="size-4 accent-(--accent-ground)"
                      />
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <div className="mt-4">
        <Button type="submit" busy={busy}>
          Save alerts
        </Button>
      </div>
      <FailureNotice failure={failure} />
    </form>
  );
}
