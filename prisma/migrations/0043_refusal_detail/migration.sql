ALTER TABLE "request_log" ADD COLUMN "detail" TEXT;
