#!/usr/bin/env bash
# Starts an example against the stack that make run started: start.sh LANGUAGE. make example calls it.
set -euo pipefail
cd "$(dirname "$0")/../.."
umask 077

run=${RUN:-.local/run.json}
[ -e "$run" ] || { echo "no $run: first start make run in another terminal" >&2; exit 1; }
value() { sed -n "s/.*\"$1\": \"\([^\"]*\)\".*/\1/p" "$run" | head -n 1; }
export BASE_URL PUBLIC_ID PRIVATE_KEY WEBHOOK_SECRET DATABASE PORT=${PORT:-3000}
BASE_URL=$(value base_url) PUBLIC_ID=$(value public_id) PRIVATE_KEY=$(value private_key)

# The database and the cursor of the events last as long as this run.
folder=$(mktemp -d)
DATABASE=$folder/records.db
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$folder"' EXIT

case $1 in
go)
	rm -rf build/recordbridge-go && tar -xzf build/recordbridge-go-0.1.0.tgz -C build
	GOFLAGS= go -C docs/examples/go build -o "$folder/example" .
	command=("$folder/example")
	;;
python)
	python=${EXAMPLE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/recordbridge-ci/example}/python
	stamp=$python/installed-$(cat docs/examples/python/requirements.txt build/recordbridge-*.whl | sha256sum | cut -c1-16)
	if [ ! -e "$stamp" ]; then
		rm -rf "$python" && python3 -m venv "$python"
		"$python/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
			--requirement docs/examples/python/requirements.txt
		site=$("$python/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
		python3 -m zipfile -e build/recordbridge-*.whl "$site"
		touch "$stamp"
	fi
	command=("$python/bin/python" -B docs/examples/python/main.py)
	;;
typescript)
	(
		cd docs/examples/typescript
		if [ node_modules/.package-lock.json -ot package-lock.json ] ||
			[ node_modules/.package-lock.json -ot ../../../build/recordbridge-server-0.1.0.tgz ]; then
			npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
		fi
		npm run --silent build
	)
	command=(node docs/examples/typescript/dist/main.js)
	;;
*)
	echo "LANGUAGE must be typescript, python or go" >&2
	exit 1
	;;
esac

RECORDBRIDGE_STATE=$folder build/recordbridge listen -run-file "$run" -to "http://localhost:$PORT/webhook" \
	> >(tee "$folder/events") &
until WEBHOOK_SECRET=$(grep -so 'whsec_.*' "$folder/events"); do kill -0 $! && sleep 0.1; done
echo "Open http://localhost:$PORT"
"${command[@]}"
