import { openApiResponse } from "#lib/docs/document-response";

export const GET = (request: Request): Response => openApiResponse(request);
