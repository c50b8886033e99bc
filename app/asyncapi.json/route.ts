import { asyncApiResponse } from "#lib/docs/asyncapi-response";

export const GET = (request: Request): Response => asyncApiResponse(request);
