-- What each node says of itself, and when the database was backed up, for the health page of operators.

-- CreateTable
CREATE TABLE "node_report" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "reported_at" TIMESTAMPTZ(3) NOT NULL,
    "report" JSONB NOT NULL,
    CONSTRAINT "node_report_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "backup_run" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,
    "bytes" BIGINT,
    "rows" BIGINT,
    "problem" TEXT,
    CONSTRAINT "backup_run_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "backup_run_ended_at_idx" ON "backup_run"("ended_at" DESC);
