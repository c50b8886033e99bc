import { ConnectForm, DeclineForm } from "#lib/contract/portal";
import { requestAddress } from "#lib/request-address";
import { changedBy } from "#server/pages/audit";
import { connectHost, declinedUrl, readAuthorization } from "#server/pages/oauth";
import { portalRoute } from "#server/pages/route";
import type { PortalRuntime } from "#server/pages/runtime";
import { notifyOfKey } from "./keys";

/** The name of the authorization server, as its own document and the page of the consent have it. */
const issuerOf = ({ running, request }: { running: PortalRuntime; request: Request }) =>
  requestAddress((name) => request.headers.get(name), running.env.PUBLIC_URL) ?? "";

export const connectionRoutes = [
  /** Allows a host to read the market for the reader's account; answers with the URL that takes the code to it. */
  portalRoute("POST /connections", { input: ConnectForm, user: "build", proof: true }, async (call) => {
    const { input, running, user } = call;
    const base = issuerOf(call);
    const authorization = await readAuthorization(input.request, base, user.accountId, running);
    const { name, url } = await connectHost(authorization, input, changedBy(call), base, running);
    await notifyOfKey(call, name, "created");
    return { url };
  }),

  /** Answers with the URL that tells a host that it is not allowed. */
  portalRoute("POST /connections/decline", { input: DeclineForm, user: "build" }, async (call) => {
    const base = issuerOf(call);
    const { request } = await readAuthorization(call.input.request, base, call.user.accountId, call.running);
    return { url: declinedUrl(request, base) };
  }),
];
