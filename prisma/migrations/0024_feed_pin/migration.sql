-- The provider that an operator prefers for a venue, whatever its state.

-- CreateTable
CREATE TABLE "feed_pin" (
    "venue" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "pinned_at" TIMESTAMPTZ(3) NOT NULL,
    CONSTRAINT "feed_pin_pkey" PRIMARY KEY ("venue")
);
