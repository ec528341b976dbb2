#!/usr/bin/env bash
# Runs the benchmarks and prints the ratios and figures of docs/BENCHMARKS.md.
#   test/benchmarks/run.sh [ROUNDS [TIME]]     6 rounds of 300ms; with fewer than 6, benchstat gives no confidence
# A round runs each comparison once, with the first version of encoding/json and with GOEXPERIMENT=jsonv2. Walks of a million
# rows, growth and sizes are measured once. RESULTS=FILE keeps the output of the benchmarks, for go tool benchstat -col /by FILE.
set -euo pipefail
cd "$(dirname "$0")"
rounds=${1:-6} time=${2:-300ms}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
results=${RESULTS:-$folder/results}
experiments='nojsonv2 jsonv2'
for experiment in $experiments; do GOEXPERIMENT=$experiment go test -c -o "$folder/$experiment" .; done
: >"$results"

# bench EXPERIMENT BENCHMARKS TIME [FLAG] runs benchmarks in a process of their own, so that none collects the garbage of another.
bench() {
  echo "goexperiment: $1" >>"$results"
  GOEXPERIMENT=$1 "$folder/$1" -test.run '^$' -test.bench "$2" -test.benchtime "$3" -test.timeout 1h ${4:-} >>"$results"
}
for round in $(seq "$rounds"); do
  echo "round $round of $rounds" >&2
  for experiment in $experiments; do
    bench "$experiment" 'List|Forms|Drift' "$time" -test.cpu=1 # one processor: the garbage collector does not use an idle one
    bench "$experiment" 'One|Offers' "$time" -test.cpu=1
    bench "$experiment" Pages 1x
  done
  bench nojsonv2 'Server|Start' "$time" -test.cpu=1
done
echo 'walks, growth and sizes' >&2
for experiment in $experiments; do bench "$experiment" 'Walk|Size' 1x; done
bench nojsonv2 Growth 1x

# medians FILTER COLUMNS prints the medians of benchstat as CSV, a line for each benchmark, with the experiment and the unit in front.
medians() {
  go tool benchstat -format csv -table goexperiment -filter "$1" -col "$2" "$results" 2>"$folder/warnings" |
    awk -F, -v OFS=, '/^goexperiment: /{e=substr($1,15)} $1=="" && $3=="CI"{unit=$2}
      $1!="" && $1!="geomean" && NF>1{sub(/-[0-9]+$/,"",$1); print e,unit,$0}'
}
# ratio FILTER COLUMNS prints the second column as a share of the first, for each experiment.
ratio() {
  medians "$1" "$2" | awk -F, '$6>0 && $4>0{n=$3" "$2; if(!(n in seen)){seen[n]=++c; name[c]=n} r[n,$1]=sprintf("%.2f",$6/$4)}
    END{for(i=1;i<=c;i++) printf "%-58s %8s %8s\n",name[i],r[name[i],"nojsonv2"],r[name[i],"jsonv2"]}'
}
# value FILTER prints the medians themselves.
value() { medians "$1" /none | awk -F, '{printf "%-58s %8s %14.6g %s\n",$3,$1,$4,$2}'; }

go version
printf '\n%-58s %8s %8s\n' 'client, as a share of raw' v1 jsonv2
ratio '.name:(List OR Forms OR One) AND .unit:(cpu-sec/op OR B/op OR allocs/op)' '/by@(raw client)'
printf '\n%s\n' 'list with drift report, as a multiple of the list without'
ratio '.name:Drift AND .unit:cpu-sec/op' '/report@(off on)'
printf '\n%s\n' 'bare handler, as a share of the reference server: processor time of a request'
ratio '.name:Server AND .unit:cpu-sec/op' '/by@(server bare)'
printf '\n%s\n' 'walks, purchases, programs, growth'
value '.name:(Pages OR Walk OR Start) AND .unit:(sec/op OR heap-MiB) OR .name:Offers AND .unit:cpu-sec/op OR .name:Size AND .unit:file-B OR .name:Growth AND .unit:(cpu-sec/row OR kept-B/row)'
