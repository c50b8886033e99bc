import { isWellFormedKey } from "#lib/contract/key-text";
import { exampleParameters } from "#lib/contract/operation";
import { OPERATION_LIST } from "#lib/operations/declarations";
import { playOperations } from "../playground/operations";
import { TryForm } from "./try-form";

interface TryOperationProps {
  /** The operation's id. */
  readonly id: string;
  readonly bearer: string;
}

/** A form that sends the call of a page with the demo key; nothing for calls that the demo key cannot make. */
function TryOperation({ id, bearer }: TryOperationProps) {
  const operation = OPERATION_LIST.find((one) => one.id === id);
  if (operation === undefined || operation.body !== undefined || operation.scope === "market:ingest") return null;
  if (!isWellFormedKey(bearer))
    return (
      <p className="try rounded-lg border border-line border-dashed p-4 text-ink-soft text-sm leading-6">
        The demo key is disabled on this installation, so calls cannot be sent from this page.
      </p>
    );
  const { method, path } = operation;
  const fields = playOperations().find((one) => one.id === id)?.fields;
  return (
    <TryForm
      call={{ id, method, path, fields: fields ?? [] }}
      start={exampleParameters(operation)}
      inPlayground={fields !== undefined}
      bearer={bearer}
    />
  );
}

/** The form of each operation's page. @param bearer the demo key; any other text when the service has none */
export function tryIt(bearer: string) {
  // biome-ignore lint/correctness/noComponentHookFactories: rendered once, on the server, and without state
  return function TryIt({ id }: Pick<TryOperationProps, "id">) {
    return <TryOperation id={id} bearer={bearer} />;
  };
}
