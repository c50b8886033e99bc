-- What operators say about incidents and maintenance on the status page.

-- CreateTable
CREATE TABLE "incident_note" (
    "id" UUID NOT NULL,
    "title" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "impact" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "incident_note_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "incident_note_starts_at_idx" ON "incident_note"("starts_at" DESC);
