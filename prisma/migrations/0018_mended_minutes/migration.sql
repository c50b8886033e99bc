-- Minutes that are mended after an outage: from pushed klines, or from the history of a provider.

-- The key whose pushed klines an import holds; null for any other import.
ALTER TABLE "backfill" ADD COLUMN     "pushed_by" TEXT;

-- What schema.prisma does not know: only lib/market reads and writes it.

-- Minutes of which the service heard every tick, because its feed lived from their first to their last millisecond. "ticker" is
-- empty where one connection feeds all tickers. From "from_s" (Unix seconds, whole minutes), "to_s" excluded.
CREATE TABLE "watched_minutes" (
    "venue" TEXT COLLATE "C" NOT NULL,
    "ticker" TEXT COLLATE "C" NOT NULL,
    "from_s" BIGINT NOT NULL,
    "to_s" BIGINT NOT NULL,

    CONSTRAINT "watched_minutes_pkey" PRIMARY KEY ("venue", "ticker", "from_s")
);
