export {
  ready as DELETE,
  ready as GET,
  ready as HEAD,
  ready as OPTIONS,
  ready as PATCH,
  ready as POST,
  ready as PUT,
} from "#lib/http/operational";
