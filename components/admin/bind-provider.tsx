"use client";

import Link from "next/link";
import { useState } from "react";
import type { LiveTerms } from "#lib/contract/portal-admin";
import type { FeedCheckForm, FeedFinding, ProviderField } from "#lib/contract/portal-feeds";
import { callPortal } from "../portal/api";
import { countText } from "../portal/numbers";
import { OperatorDocsLink } from "../portal/operator-docs";
import { usePortal } from "../portal/read";
import { textOf, useSubmit } from "../portal/use-submit";
import { Badge, type Tone } from "../ui/badge";
import { Button } from "../ui/button";
import { Card, Section } from "../ui/card";
import { CodeBlock } from "../ui/code-block";
import { FailureNotice } from "../ui/failure";
import { Field, TextField } from "../ui/field";
import { PasswordField } from "../ui/password-field";
import { Select } from "../ui/select";

type ProviderName = FeedCheckForm["provider"];
/** The settings of each provider. */
export type ProviderFields = Readonly<Record<ProviderName, readonly ProviderField[]>>;

/** What the terms of each provider say about passing its prices on. */
export type ProviderTexts = Readonly<Record<ProviderName, string>>;

const STATES: Readonly<Record<FeedFinding["state"], { readonly tone: Tone; readonly word: string }>> = {
  ok: { tone: "positive", word: "OK" },
  noted: { tone: "neutral", word: "Note" },
  failed: { tone: "danger", word: "Failed" },
};

function SettingField({ field, error }: { field: ProviderField; error: string | undefined }) {
  const { name, hint, required, secret, options, initial } = field;
  const [chosen, setChosen] = useState(initial ?? "");
  const label = <code className="font-mono text-[13px]">{name}</code>;
  if (options !== undefined)
    return (
      <Field label={label} hint={hint} error={error}>
        {(control) => (
          <Select
            {...control}
            name={name}
            value={chosen}
            onChange={setChosen}
            options={options.map((value) => ({ value, label: value }))}
          />
        )}
      </Field>
    );
  const shared = { label, name, required, error, hint, autoComplete: "off", spellCheck: false, className: "font-mono" };
  return secret ? <PasswordField {...shared} /> : <TextField {...shared} defaultValue={initial} />;
}

function Findings({ findings }: { findings: readonly FeedFinding[] }) {
  return (
    <ol aria-label="What the check found" className="divide-y divide-line rounded-lg border border-line text-sm leading-6">
      {findings.map(({ step, state, text, next }) => (
        <li key={`${step} ${text}`} className="flex items-start justify-between gap-4 px-4 py-2.5">
          <div className="min-w-0 [overflow-wrap:anywhere]">
            <span className="font-medium capitalize">{step}</span>
            <p className="text-ink-soft">{text}</p>
            {next === undefined ? null : <p>{next}</p>}
          </div>
          <Badge tone={STATES[state].tone}>{STATES[state].word}</Badge>
        </li>
      ))}
    </ol>
  );
}

/** A value in an .env file, quoted where it has to be. */
const quoted = (value: string) => (/^[\w.:/@+=-]*$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`);

/** What was tried, and what came of it. */
interface Tried {
  readonly findings: readonly FeedFinding[];
  readonly lines: string;
}

function ProviderForm({ provider, fields }: { provider: ProviderName; fields: readonly ProviderField[] }) {
  const [tried, setTried] = useState<Tried>();
  const settingsOf = (form: FormData) =>
    Object.fromEntries(fields.map(({ name }) => [name, textOf(form, name).trim()]).filter(([, value]) => value !== ""));
  const { busy, errorOf, failure, formProps } = useSubmit<{ findings: readonly FeedFinding[] }>({
    fields: fields.map(({ name }) => name),
    send: (form) => callPortal("POST", "admin/feeds/check", { provider, settings: settingsOf(form) }),
    done: ({ findings }, form) => {
      const changed = fields.filter(({ name, initial }) => {
        const value = settingsOf(new FormData(form))[name];
        return value !== undefined && value !== initial;
      });
      const lines = changed.map(({ name }) => `${name}=${quoted(textOf(new FormData(form), name).trim())}`);
      setTried({ findings, lines: [`LIVE_FEED=${provider}`, ...lines].join("\n") });
    },
  });
  const failed = tried?.findings.some(({ state }) => state === "failed") ?? false;
  return (
    <>
      <form {...formProps} className="space-y-5">
        <div className="grid items-start gap-5 sm:grid-cols-2">
          {fields.map((field) => (
            <SettingField key={field.name} field={field} error={errorOf(field.name)} />
          ))}
        </div>
        <FailureNotice failure={failure} />
        <div className="flex flex-wrap items-center gap-4">
          <Button type="submit" kind="primary" busy={busy}>
            {busy ? "Checking…" : "Check"}
          </Button>
          <p className="text-ink-faint text-xs leading-5">
            Connects to the provider with these settings, for up to a minute. Nothing is stored.
          </p>
        </div>
      </form>
      <div role="status" className="space-y-5 empty:hidden">
        {tried === undefined ? null : (
          <>
            <Findings findings={tried.findings} />
            <CodeBlock label={failed ? "For .env, once the check passes" : "Add to .env, and start the service again"}>
              {tried.lines}
            </CodeBlock>
          </>
        )}
      </div>
    </>
  );
}

/** Says who will read the prices of a provider: accounts may have live access before there is one. */
function Readers({ terms }: { terms: string }) {
  const accounts = usePortal<LiveTerms>("admin/live-terms").data?.accounts ?? 0;
  if (accounts === 0) return null;
  return (
    <p className="rounded-md border border-warning/40 p-3 text-sm leading-6">
      <Link href="/admin/accounts?live=true" className="text-accent underline">
        {accounts === 1 ? "1 account" : `${countText(accounts)} accounts`}
      </Link>{" "}
      with live access will read its prices. {terms}
    </p>
  );
}

/** The form that tries a provider and ends with the lines for `.env`, while the live venue has none. */
export function BindProvider({ providers, terms }: { providers: ProviderFields; terms: ProviderTexts }) {
  const names = Object.keys(providers) as ProviderName[];
  const [provider, setProvider] = useState<ProviderName>(names[0] ?? "oanda");
  return (
    <Section
      title="Bind a provider"
      aside={<OperatorDocsLink href={`/docs/providers/${provider}`}>Where to find its settings</OperatorDocsLink>}
    >
      <Card className="space-y-5">
        <Field label="Provider" hint="The live venue gets its prices from it.">
          {(control) => (
            <Select
              {...control}
              name="provider"
              value={provider}
              onChange={setProvider}
              options={names.map((value) => ({ value, label: value }))}
            />
          )}
        </Field>
        <Readers terms={terms[provider]} />
        <ProviderForm key={provider} provider={provider} fields={providers[provider]} />
      </Card>
    </Section>
  );
}
