import { docsPicture } from "#server/pages/downloads/pictures";
import { otherMethods } from "#server/pages/methods";

/** A picture of a guide. */
export async function GET(_request: Request, { params }: { params: Promise<{ file: string }> }): Promise<Response> {
  return docsPicture((await params).file);
}

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
