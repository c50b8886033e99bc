-- The formats of the files of an import, which name who made them.

-- AlterTable
ALTER TABLE "backfill" ADD COLUMN     "formats" TEXT[] DEFAULT ARRAY[]::TEXT[];
