import { licences } from "#server/pages/downloads/licences";
import { otherMethods } from "#server/pages/methods";

/** The licence of the program, and those of the packages that it is shipped with. */
export const GET = (): Promise<Response> => licences();

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
