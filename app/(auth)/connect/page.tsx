import type { Metadata } from "next";
import { type PageSearch, searchText } from "#app/page-search";
import { readerAddress } from "#app/reader-address";
import { requireUser } from "#app/session";
import { ConnectForm, ConnectRefused } from "#components/connect/connect-form";
import { ProofDialog } from "#components/shell/proof-dialog";
import type { Authorization } from "#lib/contract/oauth";
import { may } from "#lib/contract/roles";
import { isFault } from "#lib/fault";
import { readAuthorization } from "#server/pages/oauth";
import { portal } from "#server/pages/runtime";
import { signInChoices } from "#server/pages/sign-in/providers";

export const metadata: Metadata = { title: "Connect an agent", referrer: "no-referrer" };

/** Where the host of an agent sends its reader: asks whether it may read the market for the account. */
export default async function ConnectPage({ searchParams }: PageSearch) {
  const asked = await searchParams;
  // Signed in first: a document that a stranger names is not fetched for strangers.
  const user = await requireUser(`/connect${searchText(asked)}`);
  if (!may(user.role, "build"))
    return <ConnectRefused reason={`Your role in ${user.organisation} is ${user.role}. Ask somebody who may create keys.`} />;
  let authorization: Authorization;
  try {
    authorization = await readAuthorization(asked, await readerAddress(), user.accountId, portal());
  } catch (error) {
    if (!isFault(error)) throw error;
    return <ConnectRefused reason={error.message} />;
  }
  return (
    <>
      <ProofDialog user={user} providers={signInChoices(portal().env)} />
      <ConnectForm authorization={authorization} organisation={user.organisation} email={user.email} />
    </>
  );
}
