-- Progress of imports, as Prisma's engine writes it from schema.prisma.

-- CreateTable
CREATE TABLE "backfill" (
    "id" UUID NOT NULL,
    "venue" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "files" INTEGER NOT NULL,
    "files_done" INTEGER NOT NULL,
    "files_failed" INTEGER NOT NULL,
    "file" TEXT NOT NULL,
    "step" TEXT NOT NULL,
    "share" DOUBLE PRECISION NOT NULL,
    "rows" BIGINT NOT NULL,
    "read_ms" INTEGER NOT NULL,
    "problem" TEXT,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "backfill_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "backfill_started_at_idx" ON "backfill"("started_at" DESC);
