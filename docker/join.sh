#!/bin/sh
# Process I of N at work on one run: the first begins it if it is not there, every other waits for it and joins.
#   join.sh RUN I/N [options of `wardround run` that begin it]
# The store is $WARDROUND_STORE. JOIN_WAIT: seconds to wait for the run to begin, 600 unless set.
set -eu
run=$1
share=$2
shift 2
trap 'exit 143' TERM INT
waited=0
until wardround status "$run" >/dev/null 2>&1; do
    if [ "${share%%/*}" = 1 ]; then
        exec wardround run --name "$run" --share "$share" "$@"
    fi
    if [ "$waited" -ge "${JOIN_WAIT:-600}" ]; then
        echo "join.sh: run $run has not begun in $waited s; is process 1 at work, and the store the same?" >&2
        exit 2
    fi
    sleep 2
    waited=$((waited + 2))
done
exec wardround run --resume "$run" --share "$share"
