import { otherMethods } from "#server/pages/methods";
import { handleAuth } from "#server/pages/sign-in/auth";

export const GET = handleAuth;
export const POST = handleAuth;

export const { DELETE, OPTIONS, PATCH, PUT } = otherMethods({ GET, POST });
