import type { Upstream } from "./port";

const HIDDEN = "[secret]";

/** A text without the secrets of the upstream, which a source may repeat in its answers. */
export const hide = ({ secrets }: Pick<Upstream, "secrets">, text: string) =>
  secrets.reduce((kept, secret) => kept.replaceAll(secret, HIDDEN), text);

/** The message of an error, without secrets. */
export const problemOf = (upstream: Pick<Upstream, "secrets">, error: unknown) =>
  hide(upstream, error instanceof Error ? error.message : String(error));
