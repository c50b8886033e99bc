import { decodeLzma } from "./lzma";
import { readFileSync } from "node:fs";
import { createHash } from "node:crypto";
for (let k=0;k<3;k++) for (const f of process.argv.slice(2)) { const b=readFileSync(f); if(!b.length) continue; const t=performance.now(); const o=decodeLzma(b, 1<<24); console.log(f,o.length,createHash("md5").update(o).digest("hex"),performance.now()-t);}
