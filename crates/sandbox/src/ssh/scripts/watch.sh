# $1 job, $2 leader of its session. The end of our input is the end of who asked for the job; or of
# the job, and then who asked ends what is left, and counts it, if it still can.
job=$1 leader=$2 grace=200
cat >/dev/null
[ -d "/proc/$leader" ] || sleep 5
sweep
