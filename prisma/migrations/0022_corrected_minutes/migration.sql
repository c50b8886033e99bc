-- Operators correct single minutes, or strike them out. Such a correction is an import like any other, so it can be undone.

-- Feeds and pushes do not replace the minutes of these imports.
ALTER TABLE "backfill" ADD COLUMN     "by_operator" BOOLEAN NOT NULL DEFAULT false;

-- What schema.prisma does not know: only lib/market reads and writes it.

-- Minutes of the live venue that import "batch" struck out: their klines are versions in kline_previous. Deleted by its undo.
CREATE TABLE "struck_minute" (
    "ticker" TEXT COLLATE "C" NOT NULL,
    "time" BIGINT NOT NULL,
    "batch" INTEGER NOT NULL,

    CONSTRAINT "struck_minute_pkey" PRIMARY KEY ("ticker", "time", "batch")
);

CREATE INDEX "struck_minute_batch_idx" ON "struck_minute" ("batch");

-- A version without values: the minute was struck out when an import wrote it. "owner" is then what struck it out.
ALTER TABLE "kline_previous" ALTER COLUMN "open" DROP NOT NULL,
ALTER COLUMN "high" DROP NOT NULL,
ALTER COLUMN "low" DROP NOT NULL,
ALTER COLUMN "close" DROP NOT NULL,
ALTER COLUMN "tick_volume" DROP NOT NULL;
