#!/bin/bash
# One run on a Slurm cluster: each task of the array is a process at work on it. From the root of the project:
#   export WARDROUND_STORE=postgresql://wardround@db.example.org/wardround RUN=first
#   sbatch docker/slurm.sh --config run.toml
# The password of the database is in ~/.pgpass (mode 600), the keys of the models are in ~/.wardround-keys.
#SBATCH --job-name=wardround
#SBATCH --array=1-8
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --time=12:00:00
#SBATCH --output=wardround-%A_%a.log
#SBATCH --open-mode=append
# Five minutes before its time is over a task finishes what is under way; after a preemption it is queued again.
#SBATCH --signal=B:TERM@300
#SBATCH --requeue
set -eu
: "${WARDROUND_STORE:?the PostgreSQL that all nodes reach}" "${RUN:?the name of the run}"
# Tasks may wait for the first one as long as the queue takes.
export JOIN_WAIT=36000
if [ -f "$HOME/.wardround-keys" ]; then
    set -a
    # shellcheck source=/dev/null
    . "$HOME/.wardround-keys"
    set +a
fi
# A call in flight is an open connection.
ulimit -n "$(ulimit -Hn)"
PATH=$PWD/.venv/bin:$PATH
exec docker/join.sh "$RUN" "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" "$@"
