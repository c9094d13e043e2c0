#!/bin/sh
# Prints the mean level of each gauge.
for gauge in Cuxhaven Kiel Helgoland; do
  sum=0 n=0
  while IFS=, read -r name time level; do
    [ "$name" = "$gauge" ] || continue
    sum=$((sum + level)) n=$((n + 1))
  done < data/readings.csv
  mean=$((sum / n / 10))  # to check: are these millimetres?
  printf '%-10s %d readings, mean %d mm\n' "$gauge" "$n" "$mean"
  sleep 0.4 2> /dev/null || :
done
