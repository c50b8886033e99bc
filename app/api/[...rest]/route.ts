import { unserved } from "#lib/http/api";

/** What no other route under /api serves: the envelope, never a page. */
export {
  unserved as DELETE,
  unserved as GET,
  unserved as HEAD,
  unserved as OPTIONS,
  unserved as PATCH,
  unserved as POST,
  unserved as PUT,
};
