import { asyncApiResponse } from "#lib/docs/document-response";

export const GET = (request: Request): Response => asyncApiResponse(request);
