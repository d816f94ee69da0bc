#!/bin/bash
# A vLLM server for each task of a Slurm array; each writes its address into a folder that all nodes see:
#   sbatch --export=ALL,MODEL=Qwen/Qwen2.5-7B-Instruct,URLS=$HOME/urls docker/vllm.slurm.sh
# A run on all of them, once they answer (from the root of the project):
#   wardround run --doctor openai/Qwen/Qwen2.5-7B-Instruct --base-url "$(cat $HOME/urls/* | paste -sd,)" --name trial
#SBATCH --job-name=vllm
#SBATCH --array=1-4
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=64G
#SBATCH --time=12:00:00
#SBATCH --output=vllm-%A_%a.log
set -eu
: "${MODEL:?the model to serve}" "${URLS:?a folder on a file system that all nodes share}"
export VLLM_NO_USAGE_STATS=1
port=$((20000 + SLURM_ARRAY_JOB_ID % 20000 + SLURM_ARRAY_TASK_ID))
mkdir -p "$URLS"
place=$URLS/$SLURM_ARRAY_TASK_ID
trap 'rm -f "$place"' EXIT
vllm serve "$MODEL" --port "$port" --enable-prefix-caching &
server=$!
until curl --silent --fail "http://127.0.0.1:$port/health" > /dev/null; do
    kill -0 "$server" || exit 1
    sleep 5
done
echo "http://$(hostname):$port/v1" > "$place"
wait "$server"
