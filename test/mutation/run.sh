#!/usr/bin/env bash
# Mutation testing by hand, of all packages below or of those named: bash test/mutation/run.sh [internal/evidence ...]
# gremlins changes one operator after another, and the tests of the package alone must fail. The script fails if fewer than
# 95 % of the mutants of a package are killed, or if survivors.tsv does not explain one that survives.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. test/mutation/gremlins

# packages are the packages with a flag for their tests, and the files that are not mutated.
packages() {
  cat <<'END'
internal/evidence               -test.v=false
internal/cost                   -test.v=false
internal/wait                   -test.v=false
internal/decimal                -test.v=false
internal/redact                 -test.v=false
internal/logfile                -test.v=false
batch                           -test.skip=TenThousand
mockserver/internal/ledger      -test.v=false
mockserver/internal/regulatory  -test.v=false  ^(analyze|draft|errors|generation|record|save|sheet|special_inputs)\.go
mockserver/internal/delivery    -test.v=false
webhook                         -test.v=false  ^storetest/
END
}

status=0
while read -r package flags exclude; do
  if (($#)) && [[ " $* " != *" $package "* ]]; then continue; fi
  mutate "$package" "$flags" "$exclude" | sort >"$work/lived"
  killed=$(grep -c '^ *KILLED' "$work/log") || true
  lived=$(wc -l <"$work/lived")
  total=$((killed + lived))
  printf '%-32s %4d mutants, %4d killed (%s %%), %d survivors\n' "$package" "$total" "$killed" "$(awk "BEGIN { printf \"%.1f\", 100 * $killed / $total }")" "$lived"
  if ((killed * 100 < total * 95)); then status=1; fi
  if ! comm -23 "$work/lived" <(cut -f1-3 "$here/survivors.tsv" | sort) | sed 's/^/  not explained: /' | (! grep .); then status=1; fi
done < <(packages)
exit "$status"
