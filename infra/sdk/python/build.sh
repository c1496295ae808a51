#!/usr/bin/env bash
# Generates the client from build/openapi, writes the wheel to build/ and tests it: build.sh FOLDER-OF-TOOLS.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
"$root/.ci/clients/python" "$1"
export PATH="$1/python/bin:$PATH" # ruff, which the client is formatted with

cd "$root/infra/sdk/python"
log=$(mktemp) && trap 'cat "$log"; rm -f "$log"' EXIT
rm -rf build src/*.egg-info "$root"/build/recordbridge-*.whl
openapi-python-client generate --path "$root/build/openapi/backend.yaml" --meta none --overwrite --fail-on-warning \
	--output-path src/recordbridge/api >"$log" 2>&1
python -c "from setuptools.build_meta import build_wheel; build_wheel('$root/build')" >>"$log" 2>&1
site=$(python -c "import sysconfig; print(sysconfig.get_path('purelib'))")
rm -rf "$site"/recordbridge "$site"/recordbridge-*.dist-info
python -m zipfile -e "$root"/build/recordbridge-*.whl "$site"
python -B -m unittest discover --start-directory test >>"$log" 2>&1
: >"$log"
