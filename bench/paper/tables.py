#!/usr/bin/python3
"""The tables of docs/results.md: runs `hyperatom compare` for each and writes the page.

  bench/paper/tables.py [--data ../shared/data] [--out build/paper] [--only NAME]... [--write]

Every comparison goes to a folder of its own in --out and is gone on with where it was stopped: one
that is complete is not run again. One whose scene is not in --data is left out, and said to be.
--write makes docs/results.md from those that are complete.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
HYPERATOM = os.environ.get("HYPERATOM_BIN", str(ROOT / "build/release/bin/hyperatom"))
PAGE = ROOT / "docs/results.md"


class Table(NamedTuple):
    name: str
    title: str
    about: str
    words: str  # of the command, files relative to --data


IP = "indian_pines"
PU = "pavia_university"
TABLES = [
    Table("ip-random", "Table 1: Indian Pines, 997 random training pixels",
          "The paper's protocol on the 10,366-pixel ground truth, five random splits (stratified). Test "
          "pixels lie next to training pixels; the leakage says how many windows see one.",
          f"{IP}/indian_pines.mat --labels {IP}/indian_pines_gt.mat --train 997 --repeats 5"),
    Table("ip-fixed", "Indian Pines, the fixed split of 695 and 9,671 pixels",
          "The public split of the transformer papers; three seeds of folds, atoms and order. (The "
          "paper's figures beside are those of its 997 random pixels.)",
          f"{IP}/indian_pines.mat --labels {IP}/fixed_train_695.mat "
          f"--test-labels {IP}/fixed_test_9671.mat --repeats 3"),
    Table("ip-disjoint", "Indian Pines, spatially disjoint",
          "Training and test pixels in different blocks of 16 x 16 pixels, test pixels within 3 "
          "pixels of a training pixel left out; tuned on folds of such blocks. No paper has "
          "figures for this split; those beside are of its 997 random pixels.",
          f"{IP}/indian_pines.mat --labels {IP}/indian_pines_gt.mat --train 997 --blocks 16 "
          "--buffer 3 --repeats 1 --fold-blocks 16 --fold-buffer 3"),
    Table("pavia-crop", "Table 2: Pavia University, the crop with the fixed split inside it",
          "Rows 229 to 368, columns 89 to 168 of the scene, with the paper's fixed split inside: 627 "
          "training pixels of 7 classes, 2,363 test pixels, of which 86 are of a class that has no training "
          "pixel there and are left out of the figures. Training pixels are a few solid rectangles, so "
          "that random folds tell nothing (all settings do well on them); tuned on blocks of 4 pixels with a "
          "buffer of 2. Ten seeds, as one seed of `sdl-l12-k` moves its OA by more than a point. The paper's figures beside are those of the whole scene.",
          f"{PU}/pavia_u_crop.mat --labels {PU}/crop_fixed_train_627.mat "
          f"--test-labels {PU}/crop_fixed_test_2363.mat --repeats 10 --fold-blocks 4 --fold-buffer 2 "
          "--paper pavia-university"),
    Table("pavia", "Table 2: Pavia University, the whole scene",
          "The paper's fixed split of 3,921 training and 40,002 test pixels. Training pixels are solid "
          "rectangles: tuned on blocks of 4 pixels with a buffer of 2. Three seeds.",
          f"{PU}/paviaU.mat --labels {PU}/fixed_train_3921.mat "
          f"--test-labels {PU}/fixed_test_40002.mat --repeats 3 --fold-blocks 4 --fold-buffer 2"),
]
EVERYWHERE = ["--normalize", "mnf"]
PAIRS = [("kernel against linear", [("svm-l", "svm-k"), ("src-l1-l", "src-l1-k"),
                                    ("src-l12-l", "src-l12-k"), ("sdl-l1-l", "sdl-l1-k"),
                                    ("sdl-l12-l", "sdl-l12-k")]),
         ("joint sparsity against l1", [("src-l1-l", "src-l12-l"), ("src-l1-k", "src-l12-k"),
                                        ("sdl-l1-l", "sdl-l12-l"), ("sdl-l1-k", "sdl-l12-k")])]


def shown(words: list[str]) -> str:
    """A command as the page shows it: files without their folders, whatever folder it writes to."""
    if "-o" in words:
        words = words[:words.index("-o")] + words[words.index("-o") + 2:]
    return " ".join(Path(word).name if "/" in word else word for word in words)


def run(table: Table, data: Path, out: Path) -> None:
    folder = out / table.name
    words = ["compare", *table.words.split(), *EVERYWHERE]
    for at, word in enumerate(words):
        if word.startswith((IP + "/", PU + "/")):
            words[at] = str(data / word)
            if not Path(words[at]).exists():
                print(f"{table.name}: left out, there is no {words[at]}", file=sys.stderr)
                return
    if (folder / "args.json").exists():
        made_by = shown(json.loads((folder / "args.json").read_text())["command"])
        if made_by != shown(words):
            sys.exit(f"{folder} was made by another command; remove it or give another --out\n"
                     f"  it has   hyperatom {made_by}\n  expected hyperatom {shown(words)}")
        if not (folder / "table.json").exists():
            subprocess.run([HYPERATOM, "compare", "--resume", str(folder)], check=True)
    else:
        subprocess.run([HYPERATOM, *words, "-o", str(folder)], check=True)


def percent(share: float) -> str:
    return f"{100 * share:.2f}"


def gains(result: dict[str, Any], low: str, high: str) -> list[float]:
    """Of OA, repeat by repeat."""
    cells = {each["method"]: each["cells"] for each in result["methods"]}
    return [b["overall"] - a["overall"] for a, b in zip(cells[low], cells[high])]


def observation(result: dict[str, Any], pairs: list[tuple[str, str]]) -> list[str]:
    lines = []
    for low, high in pairs:
        each = gains(result, low, high)
        mean = sum(each) / len(each)
        lines.append(f"| {high} - {low} | {100 * mean:+.2f} | {sum(g > 0 for g in each)} of {len(each)} |")
    return lines


def observations(tables: list[Table], out: Path) -> str:
    """The paper's two, over all tables: in how many pairs of cells they hold."""
    text = ["## The paper's two observations", "",
            "That kernel methods beat linear ones and that joint sparsity beats l1: in how many of all pairs "
            "of one split OA is higher, and by how many points on average. The sections below have every pair.",
            "", "| table | " + " | ".join(title for title, _ in PAIRS) + " |", "|---|---|---|"]
    for table in tables:
        result = json.loads((out / table.name / "table.json").read_text())
        row = [table.title]
        for _, pairs in PAIRS:
            each = [gain for low, high in pairs for gain in gains(result, low, high)]
            row.append(f"{sum(g > 0 for g in each)} of {len(each)}, "
                       f"{100 * sum(each) / len(each):+.2f}")
        text.append("| " + " | ".join(row) + " |")
    return "\n".join([*text, "", ""])


def section(table: Table, out: Path) -> str:
    folder = out / table.name
    result = json.loads((folder / "table.json").read_text())
    date = datetime.date.fromtimestamp((folder / "table.json").stat().st_mtime)
    command = shown(json.loads((folder / "args.json").read_text())["command"])
    repeats = result["repeats"]
    seeds = "seed 0" if repeats == 1 else f"{repeats} repeats with seeds 0 to {repeats - 1}"
    text = [f"## {table.title}", "", table.about, "", "```",
            f"hyperatom {command} -o FOLDER",
            "```", "",
            f"{date}; {seeds}; "
            f"{result['splits'][0]['train']:,} training and {result['splits'][0]['test']:,} test pixels "
            f"({result['splits'][0]['rule']}); tuned on {result['tuning']} of the training pixels.", "",
            (folder / "table.md").read_text().strip(), ""]
    for title, pairs in PAIRS:
        text += [f"OA, {title} (points; in how many repeats it is better):", "",
                 "| | mean gain | better |", "|---|---:|---:|", *observation(result, pairs), ""]
    text += ["<details><summary>What was chosen in every repeat</summary>", "",
             "| method | repeat | OA % | AA % | settings |", "|---|---:|---:|---:|---|"]
    for method in result["methods"]:
        for cell in method["cells"]:
            text.append(f"| {cell['method']} | {cell['repeat']} | {percent(cell['overall'])} | "
                        f"{percent(cell['average'])} | {cell['settings']} |")
    return "\n".join([*text, "", "</details>", ""])


HEAD = """# Results

Made by `bench/paper/tables.py --write` from what `hyperatom compare` printed; the commands below repeat each table. Every method is tuned
in the same way, on training pixels alone, within every split ([decision 014](decisions/014-tuning.md) says how and over which grids), on pixels
normalised in the same way ([decision 015](decisions/015-mnf.md), chosen on training pixels too). OA, AA
and kappa are means over the repeats, with the standard deviation of a repeat behind the sign; times are means in seconds: of tuning, added up over
trials that run on one thread each; of training and classifying on two cores that other work may have kept busy. Atoms are those of the
dictionary, or support vectors. Leakage is the share of test pixels whose window holds a training pixel: high leakage flatters every
method that looks at windows.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--out", type=Path, default=ROOT / "build/paper")
    parser.add_argument("--only", action="append", choices=[table.name for table in TABLES])
    parser.add_argument("--write", action="store_true", help="write docs/results.md")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for table in TABLES:
        if not arguments.only or table.name in arguments.only:
            run(table, arguments.data, arguments.out)
    if arguments.write:
        done = [table for table in TABLES if (arguments.out / table.name / "table.json").exists()]
        PAGE.write_text(HEAD + observations(done, arguments.out)
                        + "\n".join(section(table, arguments.out) for table in done))


if __name__ == "__main__":
    main()
