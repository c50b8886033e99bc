-- The name of an account that was deleted before its month was closed; null while the account is there.
ALTER TABLE "month_usage" ADD COLUMN "account" TEXT;
