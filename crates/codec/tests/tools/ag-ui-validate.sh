#!/usr/bin/env bash
# Installs the validator that the AG-UI tests run, into the target directory. Needs Python 3.11.
set -euo pipefail
cd "$(dirname "$0")/../../../.."
readonly home="${CARGO_TARGET_DIR:-target}/ag-ui-validate"
[[ -x "$home/bin/ag-ui-validate" ]] && exit 0
python3 -m venv "$home"
"$home/bin/pip" install --quiet --disable-pip-version-check ag-ui-validate==0.4.0
