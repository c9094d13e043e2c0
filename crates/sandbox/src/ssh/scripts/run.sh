# $1 mark of our own lines, $2 job, $3 workspace, $4 directory in it, $5 the watcher; then the
# environment and the program
mark=$1 job=$2 root=$3 dir=$4 watch=$5
shift 5
unset CDPATH
if ! { cd -P -- "$root" && cd -- "$dir"; } 2>/dev/null; then
    echo "$mark workdir"
    exit 1
fi
for word in "$@"; do
    case $word in *=*) ;; *) break ;; esac
done
case $word in
*/*) [ -f "$word" ] && [ -x "$word" ] ;;
*) command -v -- "$word" >/dev/null 2>&1 ;;
esac || {
    echo "$mark program"
    exit 1
}
exec 3<&0 </dev/null
# The watcher leaves the session, so that it outlives the job, and knows nothing of its environment.
if command -v setsid >/dev/null 2>&1; then
    setsid /bin/sh -c "$watch" watch "$job" "$$" <&3 >/dev/null 2>&1 3<&- &
else
    /bin/sh -c "$watch" watch "$job" "$$" <&3 >/dev/null 2>&1 3<&- &
fi
exec 3<&-
echo "$mark started $$"
exec env -i "HOME=$HOME" "PATH=$PATH" LANG=C.UTF-8 GIT_TERMINAL_PROMPT=0 "OUTFITTER_JOB=$job" "$@"
