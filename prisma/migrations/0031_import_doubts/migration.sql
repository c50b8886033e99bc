-- What was doubtful about the files of an import.

-- AlterTable
ALTER TABLE "backfill" ADD COLUMN     "doubts" TEXT[] DEFAULT ARRAY[]::TEXT[];
