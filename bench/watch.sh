#!/bin/sh
# Prints what `sitelink watch` costs compared with a check, for the table in
# docs/design/measurements.md: medians, and their ratio to the median of the checks in
# the same run. usage: bench/watch.sh DOCROOT PAGE [ROUNDS] (PAGE relative to DOCROOT).
# It works on a copy of the docroot. Needs Linux and GNU time.
set -eu
docroot=$1 page=$2 rounds=${3:-20}
work=$(mktemp -d)
pid=
trap 'test -z "$pid" || kill "$pid" 2>/dev/null || :; rm -rf "$work"' EXIT INT TERM
mkdir "$work/.git"
cp -r "$docroot" "$work/public"
go build -o "$work/sitelink" ./cmd/sitelink
cd "$work"
page=public/$page
cp "$page" kept

median() { sort -n | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
for _ in 1 2 3 4 5; do
	/usr/bin/time -a -o checks -f '%e %U %S %M' ./sitelink check public --output /dev/null || test $? -eq 1
done
grep -v '^Command exited' checks >times # a check that finds something says so
wall=$(awk '{ print 1000 * $1 }' times | median)
cpu=$(awk '{ print 1000 * ($2 + $3) }' times | median)
memory=$(awk '{ print $4 }' times | median)
echo "check: $wall ms, $cpu ms of processor time, $memory KB (medians of $(wc -l <times))"

SITELINK_DEBUG=timing ./sitelink watch public --delay 50ms >out 2>err &
pid=$!
# used prints the processor time of the watch so far, in milliseconds.
used() { cat "/proc/$pid"/task/*/schedstat 2>/dev/null | awk '{ n += $1 } END { printf "%.3f\n", n / 1000000 }'; }
seen=0
# ended waits for the next check to end, and for what it leaves to be done.
ended() {
	seen=$((seen + 1))
	while [ "$(grep -c 'timing: watch' err)" -lt "$seen" ]; do
		sleep 0.05
	done
	sleep 0.1
}
# says WHAT prints what the rounds since the last call of it came to.
says() {
	awk '/timing: watch/ { print $(NF - 1) }' err | tail -n +$((from + 1)) >walls
	w=$(median <walls)
	awk -v what="$1" -v n="$(wc -l <walls)" -v w="$w" -v wall="$wall" -v c="$(echo "$(used) $before" | awk '{ print $1 - $2 }')" -v cpu="$cpu" \
		-v least="$(sort -n walls | head -1)" -v memory="$memory" '
		/VmHWM/ { hwm = $2 }
		END { printf "%s: %.1f ms (least %.1f), 1/%.0f of a check; %.1f ms of processor time, 1/%.0f; memory at most %d KB, %.2f of that of a check (%d times)\n",
			what, w, least, wall / w, c / n, cpu * n / c, hwm, hwm / memory, n }' "/proc/$pid/status"
	from=$seen before=$(used)
}
from=0 before=0
ended
says "first check"
for i in $(seq "$rounds"); do
	echo "<a href=nowhere$i.html>x</a>" >>"$page"
	ended
done
says "a broken link added to a page"
cp kept "$page"
ended
from=$seen before=$(used)
for i in $(seq "$rounds"); do
	if [ $((i % 2)) = 1 ]; then
		sed 's/id="/id="q/g' kept >"$page" # all its anchors go
	else
		cp kept "$page"
	fi
	ended
done
says "all anchors of a page gone, or back"
cp kept "$page"
added=$(dirname "$page")/added-by-bench.html
for i in $(seq "$rounds"); do
	if [ $((i % 2)) = 1 ]; then
		cp kept "$added"
	else
		rm "$added"
	fi
	ended
done
says "a page added, or removed"
sleep 10
echo "nothing changes: $(echo "$(used) $before" | awk '{ print $1 - $2 }') ms of processor time in 10 s"
kill -INT "$pid"
wait "$pid" || :
pid=
