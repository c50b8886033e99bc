import { clientPackage } from "#server/pages/downloads/client-package";
import { otherMethods } from "#server/pages/methods";

/** The typed client as a package: `npm install <this URL>`. */
export function GET(request: Request): Promise<Response> {
  return clientPackage(request);
}

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
