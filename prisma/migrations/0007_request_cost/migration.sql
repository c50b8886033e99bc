-- What a request took of its limit, that limit, and what was left of it. Null for those that were refused before they were counted, and
-- for what the release before this one logged.
ALTER TABLE "request_log" ADD COLUMN "cost" INTEGER;
ALTER TABLE "request_log" ADD COLUMN "rate_limit" INTEGER;
ALTER TABLE "request_log" ADD COLUMN "rate_remaining" INTEGER;
