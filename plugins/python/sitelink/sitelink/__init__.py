"""Runs sitelink, which checks every link of a built static site as its host will answer it."""

import json
import os
import subprocess
import sys


class Error(Exception):
    """The site could not be checked."""


def binary():
    """Return the path of the program: SITELINK_BINARY, or that of this package."""
    given = os.environ.get("SITELINK_BINARY")
    if given:
        return given
    path = os.path.join(os.path.dirname(__file__), "bin", "sitelink.exe" if os.name == "nt" else "sitelink")
    if not os.path.exists(path):
        raise Error(f"{path} is missing: install the wheel for this platform, or set SITELINK_BINARY to a sitelink that you built")
    return path


class Result:
    """What a check found. ok is False if there are findings at or above fail_on."""

    def __init__(self, ok, report):
        self.ok, self.report = ok, report


def check(docroot, fail_on=None, ignore=(), baseline=None, base_url=None, args=(), seen=None):
    """Check a built site and return a Result; raise Error if that is not possible.

    With seen, a set that the caller keeps, the report has only the causes that the check
    before did not find.
    """
    try:
        relative = os.path.relpath(docroot)
    except ValueError:  # on another drive of Windows
        relative = docroot
    if not relative.startswith(".."):
        docroot = relative
    line = ["check", docroot, "--format", "text" if seen is None else "json"]
    for name, value in (("--fail-on", fail_on), ("--baseline", baseline), ("--base-url", base_url)):
        if value:
            line += [name, value]
    for rule in [ignore] if isinstance(ignore, str) else ignore:
        line += ["--ignore", rule]
    if os.environ.get("SITELINK_OUT"):
        return Result(True, "sitelink started this build, and checks the site itself")
    try:
        ended = subprocess.run([binary(), *line, *args], capture_output=True, encoding="utf-8", errors="replace")
    except OSError as error:
        raise Error(f"sitelink could not be started: {error}") from error
    if ended.returncode not in (0, 1):
        raise Error(f"sitelink could not check {docroot} (exit code {ended.returncode}):\n{ended.stderr.strip() or ended.stdout.strip()}")
    text = ended.stdout.rstrip() if seen is None else _news(json.loads(ended.stdout)["findings"], seen, docroot)
    return Result(ended.returncode == 0, "\n".join(filter(None, [text, ended.stderr.strip()])))


def _news(findings, seen, docroot):
    now = {f["cause"]: f for f in findings if f["cause"] not in seen}
    seen.clear()
    seen.update(f["cause"] for f in findings)
    lines = []
    for f in now.values():
        at = f.get("source") or {"file": os.path.join(docroot, f["page"]), "line": f["line"], "column": f["column"]}
        place = f"{at['file']}:{at['line']}:{at['column']}" if at.get("line") else at["file"]
        lines.append(f"{place}: {f['verdict']}: {f['message']} [{f['code']}]")
        if f.get("suggestion"):
            lines.append(f"    did you mean {f['suggestion']}?")
    return "\n".join(lines)


def main():
    """Run the program with the arguments of this process."""
    try:
        program = binary()
        if os.name != "nt":
            os.execv(program, ["sitelink", *sys.argv[1:]])
        sys.exit(subprocess.call([program, *sys.argv[1:]]))
    except (Error, OSError) as error:
        print(f"sitelink: error: {error}", file=sys.stderr)
        sys.exit(3)
