import { handleAuth } from "#lib/portal/auth";

export const GET = handleAuth;
export const POST = handleAuth;
