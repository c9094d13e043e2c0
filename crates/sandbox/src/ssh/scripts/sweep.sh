# $1 job, $2 leader of its session, $3 hundredths of a second between TERM and KILL
job=$1 leader=$2 grace=$3
sweep
echo swept $first $found
