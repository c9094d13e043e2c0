# $1 mark of our own lines, $2 job, $3 workspace, $4 directory in it, $5 the watcher; then the program.
# The environment comes as lines of our input, because others may see arguments: `NAME=value`, `+` and
# a further line of the value before, and `.` at the end.
mark=$1 job=$2 root=$3 dir=$4 watch=$5
shift 5
unset CDPATH
if ! { cd -P -- "$root" && cd -- "$dir"; } 2>/dev/null; then
    echo "$mark workdir"
    exit 1
fi
case $1 in
*/*) [ -f "$1" ] && [ -x "$1" ] ;;
*) command -v -- "$1" >/dev/null 2>&1 ;;
esac || {
    echo "$mark program"
    exit 1
}
# Kept before the program's words, the last first, until the watcher is there, which gets none of it.
_outfitter_left=0
while IFS= read -r line; do
    case $line in
    .) break ;;
    +*)
        variable="$1
${line#+}"
        shift
        set -- "$variable" "$@"
        ;;
    *)
        set -- "$line" "$@"
        _outfitter_left=$((_outfitter_left + 1))
        ;;
    esac
done
[ "$line" = . ] || exit 1
exec 3<&0 </dev/null
# The watcher leaves the session, so that it outlives the job, and knows nothing of its environment.
if command -v setsid >/dev/null 2>&1; then
    setsid /bin/sh -c "$watch" watch "$job" "$$" <&3 >/dev/null 2>&1 3<&- &
else
    /bin/sh -c "$watch" watch "$job" "$$" <&3 >/dev/null 2>&1 3<&- &
fi
exec 3<&-
echo "$mark started $$"
unset PWD OLDPWD SHLVL
while [ "$_outfitter_left" -gt 0 ]; do
    export "$1"
    shift
    _outfitter_left=$((_outfitter_left - 1))
done
exec "$@"
