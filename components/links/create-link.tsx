"use client";

import { useState } from "react";
import { LINK_NAME_MAX_CHARACTERS } from "#lib/contract/limits";
import type { LinkInfo } from "#lib/contract/portal-links";
import { ExpiryField, expiryOf } from "../keys/expiry-field";
import { VENUE_WORDS } from "../keys/key-text";
import type { RestOperation, Values } from "../playground/model";
import { RequestFields } from "../playground/request-fields";
import { startValues } from "../playground/share";
import { UNCHECKED, useCheck } from "../playground/use-check";
import { useInstruments } from "../playground/use-instruments";
import { callPortal } from "../portal/api";
import { createBearers } from "../portal/bearers";
import type { Credential, OwnKey } from "../portal/credential";
import { useTimeZone } from "../portal/time";
import { refused, textOf, useSubmit } from "../portal/use-submit";
import { Dialog } from "../ui/dialog";
import { DialogSubmit } from "../ui/dialog-submit";
import { Field, TextField } from "../ui/field";
import { Prose } from "../ui/prose";
import { Select } from "../ui/select";
import { LinkAddress } from "./link-address";

/** What a link can be made of: an operation, and one of the reader's keys. */
export interface LinkParts {
  readonly operations: readonly [RestOperation, ...RestOperation[]];
  readonly keys: readonly [OwnKey, ...OwnKey[]];
}

interface MadeLink {
  readonly link: LinkInfo;
  readonly address: string;
}

const CSV = { value: "csv", label: "CSV, for spreadsheets" } as const;
const FORMATS = [CSV, { value: "json", label: "JSON" }] as const;
const FILE_FORMATS = [CSV, { value: "parquet", label: "Parquet" }] as const;
type Format = (typeof FORMATS | typeof FILE_FORMATS)[number]["value"];
/** What is special about an operation in a link. */
const HINTS: Readonly<Record<string, string>> = {
  file: " Without its last part, the revision, an `id` means the file of the month as it is now.",
  klines: " Leave `from` and `to` empty, and the link returns the newest klines.",
};

/** The call of the form: its operation, and the values of each operation that was chosen so far. */
function useCall(operations: LinkParts["operations"]) {
  const [id, setId] = useState(operations[0].id);
  const [forms, setForms] = useState<Readonly<Record<string, Values>>>({});
  const operation = operations.find((one) => one.id === id) ?? operations[0];
  const values = forms[operation.id] ?? startValues(operation);
  const { issues } = useCheck(UNCHECKED, operation.id, values, forms[operation.id] !== undefined);
  const change = (name: string, value: string) =>
    setForms((before) => ({ ...before, [operation.id]: { ...values, [name]: value } }));
  return { operation, values, issues, choose: setId, change };
}

/** The instruments that a key may read, for the suggestions of the form. */
function useInstrumentsOf({ operations }: LinkParts, key: OwnKey | undefined) {
  const [bearers] = useState(createBearers);
  const credential: Credential | undefined = key && { kind: "own", key };
  const path = operations.find(({ id }) => id === "instruments")?.path ?? "";
  return useInstruments(path, bearers, key?.id ?? "", credential);
}

interface CreateFormProps extends LinkParts {
  readonly onMade: (made: MadeLink) => void;
  readonly onCancel: () => void;
}

function CreateForm({ onMade, onCancel, ...parts }: CreateFormProps) {
  const { operations, keys } = parts;
  // A link is public, so nobody makes one of live prices without choosing to.
  const [keyId, setKeyId] = useState(keys.find(({ venue }) => venue === "sandbox")?.id ?? "");
  const [chosen, setFormat] = useState<Format>("csv");
  const { operation, values, issues, choose, change } = useCall(operations);
  const formats: readonly { readonly value: Format; readonly label: string }[] = operation.id === "file" ? FILE_FORMATS : FORMATS;
  const format = formats.some(({ value }) => value === chosen) ? chosen : "csv";
  const { instruments, want } = useInstrumentsOf(
    parts,
    keys.find(({ id }) => id === keyId),
  );
  const zone = useTimeZone();
  const bodyOf = (form: FormData) => ({
    name: textOf(form, "name"),
    key_id: keyId,
    operation: operation.id,
    parameters: { ...values, format },
    expires_at: expiryOf(form, zone),
  });
  const parameters = operation.fields.map(({ name }) => name);
  const { busy, errorOf, failure, formProps } = useSubmit<MadeLink>({
    fields: ["name", "key_id", "operation", ...parameters, "expires_at"],
    form: "link",
    bodyOf,
    send: async (form) => {
      if (keyId === "") return refused("key_id", "Choose a key.");
      const [wrong] = Object.entries(issues);
      return wrong === undefined ? callPortal("POST", "links", bodyOf(form)) : refused(...wrong);
    },
    done: onMade,
  });
  const refusals = parameters.flatMap((name) => {
    const issue = issues[name] ?? errorOf(name);
    return issue === undefined ? [] : [[name, issue] as const];
  });
  return (
    <form {...formProps} className="space-y-5">
      <TextField
        label="Name"
        name="name"
        required
        autoComplete="off"
        maxLength={LINK_NAME_MAX_CHARACTERS}
        placeholder="Rates in the budget file"
        hint="Shown in your organisation's list of links, and not to those who open it."
        error={errorOf("name")}
      />
      <Field label="Key" hint="The link reads what this key may read, and ends with it." error={errorOf("key_id")}>
        {(control) => (
          <Select
            {...control}
            name="key_id"
            value={keyId}
            onChange={setKeyId}
            options={[
              ...(keyId === "" ? [{ value: "", label: "Choose a key" }] : []),
              ...keys.map(({ id, name, hint, venue }) => ({ value: id, label: `${name} · ${hint} · ${VENUE_WORDS[venue]}` })),
            ]}
          />
        )}
      </Field>
      <Field
        label="What to read"
        hint={<Prose text={operation.description + (HINTS[operation.id] ?? "")} />}
        error={errorOf("operation")}
      >
        {(control) => (
          <Select
            {...control}
            name="operation"
            value={operation.id}
            onChange={choose}
            options={operations.map(({ id, title }) => ({ value: id, label: title }))}
          />
        )}
      </Field>
      <RequestFields
        operation={operation}
        values={values}
        instruments={instruments}
        issues={Object.fromEntries(refusals)}
        onInstrumentsWanted={want}
        onChange={change}
      />
      <Field label="Format" error={errorOf("format")}>
        {(control) => <Select {...control} name="format" value={format} onChange={setFormat} options={formats} />}
      </Field>
      <ExpiryField isRequired error={errorOf("expires_at")} />
      <DialogSubmit failure={failure} busy={busy} onCancel={onCancel}>
        Create link
      </DialogSubmit>
    </form>
  );
}

interface CreateLinkProps extends LinkParts {
  readonly onMade: () => void;
  readonly onClose: () => void;
}

/** Creates a link, then shows its address. */
export function CreateLink({ onMade, onClose, ...parts }: CreateLinkProps) {
  const [made, setMade] = useState<MadeLink>();
  if (made !== undefined) return <LinkAddress {...made} onClose={onClose} />;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Create a link"
      description="A URL that returns one result without a key, to everybody who has it. Made for spreadsheets."
    >
      <CreateForm
        {...parts}
        onCancel={onClose}
        onMade={(done) => {
          setMade(done);
          onMade();
        }}
      />
    </Dialog>
  );
}
