-- Where the files of history are being moved to, as "place" says it, and the mark that is there meanwhile, by which a move that was
-- interrupted knows its own files. Null while none has begun.
ALTER TABLE "history_place" ADD COLUMN "move_to" TEXT COLLATE "C";
ALTER TABLE "history_place" ADD COLUMN "move_mark" TEXT COLLATE "C";
