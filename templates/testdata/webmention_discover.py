"""Looks for the webmention endpoint of each address on standard input with the
client library ronkyuu, and prints what it finds, a line each."""

import sys
import warnings

warnings.simplefilter("ignore")

import ronkyuu  # noqa: E402

for line in sys.stdin:
    _, endpoint = ronkyuu.discoverEndpoint(line.strip(), test_urls=False, timeout=5)[:2]
    print(endpoint or "-")
