import { pythonPackage } from "#server/pages/downloads/client-package";
import { otherMethods } from "#server/pages/methods";

/** The Python client as a wheel or its sources: `pip install <this URL>`. pip reads name and version from the file name. */
export async function GET(request: Request, { params }: { params: Promise<{ file: string }> }): Promise<Response> {
  return pythonPackage(request, (await params).file);
}

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
