import type { Metadata } from "next";
import { cookies } from "next/headers";
import { demoKeyOf } from "#app/demo-key";
import { toOwnKey } from "#app/own-key";
import type { PageSearch } from "#app/page-search";
import { readerAddress } from "#app/reader-address";
import { signedInUser } from "#app/session";
import { CodeLanguages } from "#components/docs/code-languages";
import { Playground } from "#components/playground/playground";
import { WidePage } from "#components/shell/wide-page";
import { addressFilter } from "#lib/access/address";
import type { Scope } from "#lib/contract/primitives";
import { may } from "#lib/contract/roles";
import { liveProvider } from "#lib/env-feeds";
import { keyToTry, listValidKeys } from "#server/pages/own-keys";
import type { PortalRuntime } from "#server/pages/runtime";
import { runningPortal } from "#server/pages/runtime";
import { liveKeyOf } from "#server/pages/shown-markets";
import { LANGUAGES_COOKIE, languagesOf } from "../../components/docs/languages";
import { checkValues } from "../../components/playground/check";
import { playOperations } from "../../components/playground/operations";
import { readLink } from "../../components/playground/share";
import { marketReader } from "../markets/reader";
import "../../components/ui/syntax.css";

export const metadata: Metadata = {
  title: "Playground",
  description: "Call every operation and open every stream in the browser, with the public demo key. No account needed.",
};
/** Rendered per request: a link selects the operation, and keys change. */
export const dynamic = "force-dynamic";

/** The currently valid keys that the reader may use, without their texts, and the one that the page begins with. */
async function readerKeys(parts: PortalRuntime | undefined, scope: Scope | "any") {
  const reader = parts && (await marketReader(parts));
  if (parts === undefined || reader?.user === undefined || !may(reader.user.role, "build"))
    return { keys: [], firstKey: undefined };
  const keys = await listValidKeys(parts, reader.user.accountId);
  const here = keys.filter(({ addresses }) => addressFilter(addresses)(reader.address));
  const first = (await liveKeyOf(parts, reader)) ?? keyToTry(here, scope);
  return { keys: keys.map(toOwnKey), firstKey: first?.id };
}

/** Tries every operation and every stream of the running service. */
export default async function PlaygroundPage({ searchParams }: PageSearch) {
  const parts = runningPortal();
  const user = await signedInUser();
  // A link of the dashboard chooses one of the keys; it names the id, never the key.
  const { key: keyId, ...asked } = await searchParams;
  const [first, ...others] = playOperations();
  if (first === undefined) throw new Error("The contract declares nothing that could be tried.");
  const { operation, values, notices } = readLink([first, ...others], first, asked);
  const languages = languagesOf((await cookies()).get(LANGUAGES_COOKIE)?.value);
  return (
    <main id="main" tabIndex={-1} className="mx-auto w-full max-w-(--page-width) flex-1 px-4 py-6 outline-none sm:px-8 sm:py-8">
      <WidePage />
      <h1 className="sr-only">Playground</h1>
      <CodeLanguages chosen={languages}>
        <Playground
          operations={[first, ...others]}
          start={{ operationId: operation.id, values, checked: checkValues(operation.id, values), notices }}
          base={await readerAddress()}
          demoKey={parts === undefined ? undefined : demoKeyOf(parts)}
          {...(await readerKeys(parts, operation.scope))}
          linkedKey={typeof keyId === "string" ? keyId : undefined}
          provider={parts === undefined ? null : liveProvider(parts.env)}
          signedIn={user !== undefined}
        />
      </CodeLanguages>
    </main>
  );
}
