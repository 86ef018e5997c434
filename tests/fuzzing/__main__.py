"""Look for texts that break a reader: `python -m tests.fuzzing --seconds 600 [--targets note,line]`.

With atheris installed, what was reached in `vault_mcp` leads the search; without it, chance alone does. What
is found is printed with the traceback, and belongs into `FOUND` of `test_targets.py`.
"""

import argparse
import os
import random
import sys
import time
import traceback
from collections import Counter

try:
    import atheris  # type: ignore[import-untyped,import-not-found,unused-ignore]  # no dependency of ours
except ImportError:
    atheris = None

if atheris is not None:
    with atheris.instrument_imports(include=["vault_mcp"]):
        from tests.fuzzing.targets import everything, words_from
else:
    from tests.fuzzing.targets import everything, words_from


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--targets", default="")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = tuple(name for name in options.targets.split(",") if name)
    tried: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    until = time.monotonic() + options.seconds
    with everything(names) as targets:
        chosen = {name: target for name, target in targets.items() if not names or name in names}

        def one(raw: bytes) -> None:
            if time.monotonic() > until:
                print("tried", dict(tried), "broken", dict(broken), flush=True)
                os._exit(bool(broken))
            if not raw:
                return
            name = list(chosen)[raw[0] % len(chosen)]
            text = words_from(raw[1:])
            tried[name] += 1
            try:
                chosen[name](text)
            except Exception as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                kind = f"{name} {type(error).__name__} {place.name}:{place.lineno}"
                broken[kind] += 1
                if broken[kind] == 1:
                    print(f"--- {kind}\n{text!r}\n{traceback.format_exc()}", flush=True)

        if atheris is not None:
            atheris.Setup([sys.argv[0], "-max_len=200", f"-seed={options.seed + 1}"], one)
            atheris.Fuzz()
        chance = random.Random(options.seed)
        while True:
            one(chance.randbytes(chance.randrange(1, 40)))


if __name__ == "__main__":
    main()
