/** The state of the service, for its status page and for monitors on any site. */
export {
  serviceStatus as DELETE,
  serviceStatus as GET,
  serviceStatus as OPTIONS,
  serviceStatus as PATCH,
  serviceStatus as POST,
  serviceStatus as PUT,
} from "#lib/http/operational";
