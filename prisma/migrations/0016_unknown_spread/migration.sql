-- Null: no source of the kline has a spread. It is never the smallest. The API shows it as 0.
-- Rows of earlier imports keep the 0 that stood for it, because files hold true spreads of 0 too.
ALTER TABLE "kline" ALTER COLUMN "spread" DROP NOT NULL;
