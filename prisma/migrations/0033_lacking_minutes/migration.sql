-- Minutes of which the service knows that it did not get every tick. Not of Prisma's schema, like the klines that it is about.

CREATE TABLE "lacking_minutes" (
    "venue" TEXT NOT NULL,
    "ticker" TEXT NOT NULL,
    -- Whole minutes, Unix seconds; the end is not included.
    "from_s" BIGINT NOT NULL,
    "to_s" BIGINT NOT NULL,
    "reason" TEXT NOT NULL,

    CONSTRAINT "lacking_minutes_pkey" PRIMARY KEY ("venue", "ticker", "from_s", "reason")
);
