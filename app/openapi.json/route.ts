import { openApiResponse } from "#lib/docs/openapi-response";

export const GET = (request: Request): Response => openApiResponse(request);
