export {
  health as DELETE,
  health as GET,
  health as HEAD,
  health as OPTIONS,
  health as PATCH,
  health as POST,
  health as PUT,
} from "#lib/http/operational";
