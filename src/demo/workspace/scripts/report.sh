#!/bin/sh
# Prints the mean level of each gauge.
for gauge in Cuxhaven Kiel Helgoland; do
  grep "^$gauge," data/readings.csv | awk -F, -v gauge="$gauge" '
    { sum += $3; n += 1 }
    END { printf "%-10s %d readings, mean %d mm\n", gauge, n, sum / n / 10  # to check: are these millimetres?
    }'
  sleep 0.4
done
