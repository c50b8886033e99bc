/** Codes of Node for a certificate that is not trusted, has expired, or names another host, and for a failed handshake. */
const CODES = /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_(GET|VERIFY|DECRYPT))/;
/** What pg says about a server that has no TLS. */
const WITHOUT_TLS = /does not support SSL connections/;

/** True for an error of TLS, which waiting does not fix. */
export function isTlsProblem(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return CODES.test((error as { code?: string }).code ?? "") || WITHOUT_TLS.test(error.message);
}
