import { z } from "zod";

/** What a file holds. */
export const FILE_TYPES = ["klines", "ticks"] as const;
export const FileType = z.enum(FILE_TYPES).meta({ id: "FileType", description: "What the rows of a file are." });
export type FileType = z.infer<typeof FileType>;

export const PARQUET_MEDIA = "application/vnd.apache.parquet";
/** The end of the name of a file in Parquet. */
export const PARQUET_EXTENSION = "parquet";
