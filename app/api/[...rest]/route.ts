import { unserved } from "#lib/http/api";

/** Answers unknown paths under /api with the envelope, never with a page. */
export {
  unserved as DELETE,
  unserved as GET,
  unserved as HEAD,
  unserved as OPTIONS,
  unserved as PATCH,
  unserved as POST,
  unserved as PUT,
};
