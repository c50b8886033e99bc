import { clientPackage } from "#lib/docs/client-package";
import { otherMethods } from "#lib/portal/methods";

/** The typed client as a package: `npm install <this URL>`. */
export function GET(request: Request): Promise<Response> {
  return clientPackage(request);
}

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
