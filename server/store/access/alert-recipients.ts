import { ALERTS, type AlertKind, type AlertSwitch } from "#lib/contract/alerts";

/** SQL for the verified emails that an alert of the account `a` goes to, as an array: none where the account switched it off. */
export function recipientsSql(kind: AlertKind): string {
  const off: AlertSwitch = `${kind}.email`;
  const roles = ALERTS[kind].roles.map((role) => `'${role}'`).join(", ");
  return `
    ARRAY(SELECT u.email FROM membership m JOIN portal_user u ON u.id = m.user_id
           WHERE m.account_id = a.id AND m.role IN (${roles}) AND u.email_verified_at IS NOT NULL
             AND NOT '${off}' = ANY(a.alerts_off) ORDER BY u.email)`;
}
