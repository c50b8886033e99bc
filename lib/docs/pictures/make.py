"""
Makes the pictures of the guide "Python and notebooks": runs its cells one after the other, as a notebook does, and saves each
chart. Needs the client, pandas and matplotlib:

    python lib/docs/pictures/make.py http://localhost:3000 lib/docs/pictures
"""

import io
import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

GUIDE = Path(__file__).parent.parent / "guides" / "python.mdx"
CELL = re.compile(r"^```python norun cell\n(.*?)^```$|\(/docs-pictures/(\w+\.png)\)", re.MULTILINE | re.DOTALL)
SAMPLE_BASE = "http://localhost:3000"
# A chart has few colors, and a palette halves the file.
COLORS = 48

base, folder = sys.argv[1], Path(sys.argv[2])
notebook: dict[str, object] = {"__name__": "__main__"}
for code, picture in CELL.findall(GUIDE.read_text(encoding="utf-8")):
    if code:
        exec(compile(code.replace(SAMPLE_BASE, base), GUIDE.name, "exec"), notebook)
    else:
        drawn = io.BytesIO()
        plt.gcf().savefig(drawn, dpi=144)
        plt.close("all")
        Image.open(drawn).convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(folder / picture, optimize=True)
