import { TextArea, TextField } from "../ui/field";
import { Checkbox } from "../ui/select";

const SCOPES = [
  { value: "market:read", label: "market:read", hint: "Quotes, snapshots, klines, instruments and status over REST." },
  { value: "market:stream", label: "market:stream", hint: "WebSocket and Socket.IO streams, and tickets for browsers." },
] as const;

interface KeySettingsProps {
  /** The initial values of the fields. */
  readonly start: { readonly name: string; readonly scopes: readonly string[]; readonly origins: readonly string[] };
  readonly errorOf: (field: string) => string | undefined;
}

/** What a key may do, and its name. */
export function KeySettings({ start, errorOf }: KeySettingsProps) {
  const scopeError = errorOf("scopes");
  return (
    <>
      <TextField
        label="Name"
        name="name"
        defaultValue={start.name}
        required
        maxLength={80}
        placeholder="Pricing service"
        error={errorOf("name")}
      />
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
            />
          ))}
        </div>
        {scopeError === undefined ? null : (
          <p role="alert" className="mt-1.5 text-danger text-xs leading-5">
            {scopeError}
          </p>
        )}
      </fieldset>
      <TextArea
        label="Allowed origins"
        name="origins"
        rows={2}
        spellCheck={false}
        defaultValue={start.origins.join("\n")}
        placeholder={"https://app.example.com\nhttps://*.example.com"}
        className="font-mono text-[13px]"
        hint="One per line. Leave empty to allow servers only."
        error={errorOf("origins")}
      />
    </>
  );
}

/** The settings as entered. */
export function settingsOf(form: FormData): { name: string; scopes: string[]; origins: string[] } {
  const lines = String(form.get("origins") ?? "").split(/[\s,]+/);
  return {
    name: String(form.get("name") ?? ""),
    scopes: form.getAll("scopes").map(String),
    origins: lines.filter((line) => line !== ""),
  };
}
