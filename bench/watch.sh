#!/bin/sh
# Prints what `sitelink watch` costs beside a check, for the table of
# docs/watch.md. usage: bench/watch.sh DOCROOT PAGE (PAGE relative to DOCROOT).
# The docroot is copied, the original stays as it is. Needs Linux and GNU time.
set -eu
docroot=$1 page=$2
work=$(mktemp -d)
pid=
trap 'test -z "$pid" || kill "$pid" 2>/dev/null || :; rm -rf "$work"' EXIT INT TERM
mkdir "$work/.git"
cp -r "$docroot" "$work/public"
go build -o "$work/sitelink" ./cmd/sitelink
cd "$work"
page=public/$page
cp "$page" kept

for _ in 1 2 3; do
	/usr/bin/time -f 'check: %e s, %U + %S s of processor time, %M KB' ./sitelink check public --output /dev/null || :
done
touch err # before it is read
SITELINK_DEBUG=timing ./sitelink watch public >out 2>err &
pid=$!
memory() { awk -v what="$1" '/VmHWM/ { print what ": at most " $2 " KB" }' "/proc/$pid/status"; }
ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
# ends N waits for the N-th check to end.
ends() {
	while [ "$(grep -c 'timing: watch' err)" -lt "$1" ]; do
		sleep 0.1
	done
	sleep 0.5
}
ends 1
memory "first check"
n=1
before=$(ticks)
for i in 1 2 3 4 5 6; do
	echo "<a href=nowhere$i.html>x</a>" >>"$page"
	n=$((n + 1))
	ends $n
done
echo "6 edits of a page: $(($(ticks) - before)) ticks of processor time, 100 to the second" # other work on the machine does not count
sed 's/id="/id="q/g' kept >"$page" # all its anchors go
ends $((n + 1))
cp kept "$page"
ends $((n + 2))
memory "page edited"
cp kept "$(dirname "$page")/added-by-bench.html"
ends $((n + 3))
rm "$(dirname "$page")/added-by-bench.html"
ends $((n + 4))
memory "page added and removed"
before=$(ticks)
sleep 10
echo "nothing changes: $(($(ticks) - before)) ticks of processor time in 10 s"
kill -INT "$pid"
wait "$pid" || :
pid=
cat err
