#!/bin/sh
# Tries what no command of an agent should get at: try.sh FILE PORT
try() {
  if (eval "$2") > /dev/null 2>&1; then echo "NOT refused: $1"; else echo "refused: $1"; fi
}
try "reading the password hashes" ": < /etc/shadow"
try "writing beside the workspace" "echo here > '$1'"
if [ "$2" = 0 ]; then
  echo "not tried: reaching the network, for lack of somebody who listens"
elif command -v bash > /dev/null; then
  try "reaching the network" "bash -c ': < /dev/tcp/127.0.0.1/$2'"
elif command -v nc > /dev/null; then
  try "reaching the network" "nc -z -w 2 127.0.0.1 $2"
else
  echo "not tried: reaching the network, for lack of a program that could"
fi
