import { DAY_S } from "#lib/units";
import { KEY_EXPIRY_WARNINGS_S, KEY_REFUSAL_QUIET_S, MONTH_WARNING_PERCENTS } from "./limits";
import { RIGHTS, type Role } from "./roles";

/** Days that a revoked or expired key must stay unused before its next use is reported again. */
export const KEY_REFUSAL_QUIET_DAYS = KEY_REFUSAL_QUIET_S / DAY_S;

interface Alert {
  readonly label: string;
  readonly when: string;
  /** Whose members get an email. */
  readonly roles: readonly Role[];
}

export const ALERTS = {
  quota: {
    label: "Monthly quota",
    when: `${MONTH_WARNING_PERCENTS.map((percent) => `${percent}%`).join(" and ")} of your plan's units are used.`,
    roles: ["owner", "billing"],
  },
  key_refused: {
    label: "Revoked or expired key used",
    when: `Someone uses a key that has ended, for the first time in ${KEY_REFUSAL_QUIET_DAYS} days.`,
    roles: RIGHTS.build,
  },
  key_expiring: {
    label: "Key expires soon",
    when: `${KEY_EXPIRY_WARNINGS_S.map((s) => (s === DAY_S ? "1 day" : `${s / DAY_S} days`)).join(" and ")} before a key expires.`,
    roles: RIGHTS.build,
  },
} as const satisfies Readonly<Record<string, Alert>>;
export type AlertKind = keyof typeof ALERTS;
export const ALERT_KINDS = Object.keys(ALERTS) as readonly AlertKind[];

export const ALERT_CHANNELS = ["email", "webhook"] as const;

/** One kind of alert on one way: what an account can switch off. */
export type AlertSwitch = `${AlertKind}.${(typeof ALERT_CHANNELS)[number]}`;
export const ALERT_SWITCHES: readonly AlertSwitch[] = ALERT_KINDS.flatMap((kind) =>
  ALERT_CHANNELS.map((channel) => `${kind}.${channel}` as const),
);
