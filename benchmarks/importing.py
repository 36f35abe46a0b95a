"""
What `import unabridged` costs, and what it loads.

    python benchmarks/importing.py

Each import runs in a fresh interpreter, in turns with one that imports nothing;
all is compiled before, into a folder of its own. The best of several runs
counts: what others do on the machine only ever adds. Target: under 150 ms more than nothing, and no
vocabulary, database driver or framework.
"""

import json
import os
import subprocess
import sys
import tempfile
from time import perf_counter

ROUNDS = 15
NAMES = """
import json, sys
before = set(sys.modules)
import unabridged
print(json.dumps(sorted(set(sys.modules) - before)))
"""
HEAVY = ("asyncio", "hypothesis", "pytest", "sqlite3", "tiktoken")


def milliseconds(script: str, environment: dict[str, str]) -> float:
    """
    How long a fresh interpreter takes to run the script.
    """
    start = perf_counter()
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)  # noqa: S603  ours

    return (perf_counter() - start) * 1e3


def main() -> None:
    """
    Print the times, their ratio, and the modules.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    script = [sys.executable, "-c", NAMES]
    with tempfile.TemporaryDirectory() as folder:
        environment["PYTHONPYCACHEPREFIX"] = folder
        told = subprocess.run(script, check=True, capture_output=True, env=environment)  # noqa: S603
        scripts = ("pass", "import unabridged")
        runs = [[milliseconds(script, environment) for script in scripts] for _ in range(ROUNDS)]
    loaded = json.loads(told.stdout)
    empty, full = map(min, zip(*runs, strict=True))
    packages = {name.split(".")[0] for name in loaded}
    ours = sum(name.split(".")[0] == "unabridged" for name in loaded)
    print(f"empty interpreter {empty:.0f} ms, import unabridged {full:.0f} ms")
    print(f"that is {full - empty:.0f} ms more, {full / empty:.2f} times as long")
    print(f"loads {len(loaded)} modules, {ours} of them ours")
    print("from elsewhere:", *sorted(packages - sys.stdlib_module_names - {"unabridged"}))
    print("heavy ones:", *(sorted(packages & set(HEAVY)) or ["none"]))


if __name__ == "__main__":
    main()
