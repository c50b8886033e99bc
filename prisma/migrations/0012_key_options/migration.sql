-- What restricts a key: tickers, limits of its own, and when it becomes valid. Existing keys get none of it.

-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "not_before" TIMESTAMPTZ(3),
ADD COLUMN     "rest_burst" INTEGER,
ADD COLUMN     "rest_per_minute" INTEGER,
ADD COLUMN     "stream_connections" INTEGER,
ADD COLUMN     "subscriptions_per_connection" INTEGER,
ADD COLUMN     "tickers" TEXT[] DEFAULT ARRAY[]::TEXT[];
