-- Where a key may be used from; empty for anywhere, which is what keys of before get.

-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "addresses" TEXT[] DEFAULT ARRAY[]::TEXT[];
