import { handleAuth } from "#lib/portal/auth";
import { otherMethods } from "#lib/portal/methods";

export const GET = handleAuth;
export const POST = handleAuth;

export const { DELETE, OPTIONS, PATCH, PUT } = otherMethods({ GET, POST });
