import { portalApi } from "#server/pages/api";

/** The portal's JSON API; see server/pages/api. */
export {
  portalApi as DELETE,
  portalApi as GET,
  portalApi as HEAD,
  portalApi as OPTIONS,
  portalApi as PATCH,
  portalApi as POST,
  portalApi as PUT,
};
