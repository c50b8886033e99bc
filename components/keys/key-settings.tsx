import { type ComponentProps, useState } from "react";
import { KEY_NAME_MAX_CHARACTERS } from "#lib/contract/limits";
import type { PortalKey } from "#lib/contract/portal";
import { textOf } from "../portal/use-submit";
import { TextArea, TextField } from "../ui/field";
import { Checkbox } from "../ui/select";
import { KeyLimits, LIMIT_FIELDS, limitsOf, UNLIMITED } from "./key-limits";

const SCOPES = [
  { value: "market:read", label: "market:read", hint: "Quotes, snapshots, klines, instruments and status over REST." },
  { value: "market:stream", label: "market:stream", hint: "WebSocket and Socket.IO streams, and tickets for browsers." },
] as const;

/** Names of the fields. */
export const SETTING_FIELDS = ["name", "scopes", "origins", "addresses", "tickers", ...LIMIT_FIELDS] as const;

type Settings = Pick<PortalKey, (typeof SETTING_FIELDS)[number]>;

/** The settings proposed for a new key. */
export const NEW_KEY: Settings = {
  name: "",
  scopes: ["market:read", "market:stream"],
  origins: [],
  addresses: [],
  tickers: [],
  ...UNLIMITED,
};

interface KeySettingsProps {
  /** The initial values of the fields. */
  readonly start: Settings;
  readonly errorOf: (field: string) => string | undefined;
}

interface ListFieldProps extends Pick<ComponentProps<typeof TextArea>, "label" | "name" | "placeholder" | "hint" | "error"> {
  /** The initial entries. */
  readonly start: readonly string[];
}

/** A list, one entry per line. */
function ListField({ start, ...rest }: ListFieldProps) {
  return <TextArea {...rest} rows={2} spellCheck={false} defaultValue={start.join("\n")} className="font-mono text-[13px]" />;
}

const RESTRICTIONS = ["addresses", "tickers", ...LIMIT_FIELDS] as const;

const isSet = (value: Settings[(typeof RESTRICTIONS)[number]]) => (Array.isArray(value) ? value.length > 0 : value !== null);

/** What most keys do without, folded away until it is used. */
function Restrictions({ start, errorOf }: KeySettingsProps) {
  const [open, setOpen] = useState(RESTRICTIONS.some((name) => isSet(start[name])));
  const wrong = RESTRICTIONS.some((name) => errorOf(name) !== undefined);
  return (
    <details open={open || wrong} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="cursor-pointer font-medium text-sm">Restrictions</summary>
      <div className="mt-3 space-y-5">
        <ListField
          label="Allowed IP addresses"
          name="addresses"
          start={start.addresses}
          placeholder={"203.0.113.7\n2001:db8::/32"}
          hint="IP addresses and networks, one per line. Leave empty to allow all."
          error={errorOf("addresses")}
        />
        <ListField
          label="Tickers"
          name="tickers"
          start={start.tickers}
          placeholder={"EURUSD\nXAUUSD"}
          hint="One per line. Leave empty to allow all instruments of your account."
          error={errorOf("tickers")}
        />
        <KeyLimits start={start} errorOf={errorOf} />
      </div>
    </details>
  );
}

/** The name, which says so when it becomes too long instead of being cut. */
function NameField({ start, error }: { start: string; error: string | undefined }) {
  const [surplus, setSurplus] = useState(0);
  const tooLong = `Use at most ${KEY_NAME_MAX_CHARACTERS} characters. This is ${surplus} too many.`;
  return (
    <TextField
      label="Name"
      name="name"
      defaultValue={start}
      required
      onChange={({ target }) => setSurplus(target.value.trim().length - KEY_NAME_MAX_CHARACTERS)}
      placeholder="Pricing service"
      error={surplus > 0 ? tooLong : error}
    />
  );
}

/** What a key may do, and its name. */
export function KeySettings({ start, errorOf }: KeySettingsProps) {
  const scopeError = errorOf("scopes");
  return (
    <>
      <NameField start={start.name} error={errorOf("name")} />
      <fieldset>
        <legend className="mb-1.5 font-medium text-sm">Scopes</legend>
        <div className="space-y-2">
          {SCOPES.map(({ value, label, hint }) => (
            <Checkbox
              key={value}
              name="scopes"
              value={value}
              label={label}
              hint={hint}
              defaultChecked={start.scopes.includes(value)}
              aria-invalid={scopeError === undefined ? undefined : true}
              aria-describedby={scopeError === undefined ? undefined : "scopes-error"}
            />
          ))}
        </div>
        {scopeError === undefined ? null : (
          <p id="scopes-error" role="alert" className="mt-1.5 text-danger text-xs leading-5">
            {scopeError}
          </p>
        )}
      </fieldset>
      <ListField
        label="Allowed origins"
        name="origins"
        start={start.origins}
        placeholder={"https://app.example.com\nhttps://*.example.com"}
        hint="One per line. Leave empty to allow servers only."
        error={errorOf("origins")}
      />
      <Restrictions start={start} errorOf={errorOf} />
    </>
  );
}

/** The entries of a list, one per line or separated by commas. */
function entriesOf(form: FormData, name: string): string[] {
  return textOf(form, name)
    .split(/[\s,]+/)
    .filter((entry) => entry !== "");
}

/** The settings as entered, in a form that began with `start` and shows times in `zone`. */
export function settingsOf(form: FormData, start: Settings, zone: string) {
  return {
    name: textOf(form, "name"),
    scopes: form.getAll("scopes").map(String),
    origins: entriesOf(form, "origins"),
    addresses: entriesOf(form, "addresses"),
    tickers: entriesOf(form, "tickers"),
    ...limitsOf(form, start, zone),
  };
}
