import { unserved } from "#lib/http/api";

/** Under a host that routes by itself: everything in /api/v1 that no other route serves. */
export {
  unserved as DELETE,
  unserved as GET,
  unserved as HEAD,
  unserved as OPTIONS,
  unserved as PATCH,
  unserved as POST,
  unserved as PUT,
};
