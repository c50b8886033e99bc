-- When the owner of a key last learned of its expiry, so that each warning is sent once, by one node.

-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "expiry_told_at" TIMESTAMPTZ(3);
