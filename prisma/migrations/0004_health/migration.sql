-- How the service was, minute by minute, for the history of the status page; as Prisma's engine writes it from schema.prisma.

-- CreateTable
CREATE TABLE "health_sample" (
    "at" TIMESTAMPTZ(3) NOT NULL,
    "venue" TEXT NOT NULL,
    "rest" BOOLEAN NOT NULL,
    "stream" BOOLEAN NOT NULL,
    "expected" INTEGER NOT NULL,
    "fresh" INTEGER NOT NULL,
    "lag_ms" BIGINT,

    CONSTRAINT "health_sample_pkey" PRIMARY KEY ("at","venue")
);
