# What belongs to a job: its session, what carries its mark, and the children of both. Sets `found`.
tree() {
    found= others=
    marked=$(grep -lsF -- "OUTFITTER_JOB=$job" /proc/[0-9]*/environ 2>/dev/null)
    for entry in /proc/[0-9]*; do
        pid=${entry#/proc/}
        [ "$pid" = "$$" ] && continue
        { IFS= read -r line <"$entry/stat"; } 2>/dev/null || continue
        # The name stands in brackets and may hold anything; the state comes after the last one.
        set -- ${line##*) }
        case "$1" in Z | X) continue ;; esac
        if [ "$4" = "$leader" ]; then
            found="$found $pid"
        else
            case "$marked" in
            *"/proc/$pid/environ"*) found="$found $pid" ;;
            *) others="$others $pid:$2" ;;
            esac
        fi
    done
    again=1
    while [ "$again" = 1 ] && [ -n "$found" ]; do
        again=0 rest=
        for one in $others; do
            case "$found " in
            *" ${one#*:} "*) found="$found ${one%:*}" again=1 ;;
            *) rest="$rest $one" ;;
            esac
        done
        others=$rest
    done
}

# Whether any of these still runs.
any_runs() {
    for pid in "$@"; do
        { IFS= read -r line <"/proc/$pid/stat"; } 2>/dev/null || continue
        line=${line##*) }
        case "${line%% *}" in Z | X) ;; *) return 0 ;; esac
    done
    return 1
}

# Hundredths of a second since the machine started. Without it a wait counts its own steps, and takes
# longer by what each of them takes.
now() {
    up=
    { IFS=' ' read -r up rest </proc/uptime; } 2>/dev/null
    case "$up" in
    *.[0-9][0-9]) now=${up%.*}${up#*.} ;;
    *) now=$((now + 5)) ;;
    esac
}

# Waits until none of `found` runs, and not beyond `end`.
wait_for_them() {
    now
    while any_runs $found && [ "$now" -lt "$end" ]; do
        sleep 0.05 2>/dev/null || sleep 1
        now
    done
}

# TERM, `grace` hundredths of a second, then KILL until nothing is left or it is of no use. Sets
# `first` to how many there were, and `found` to what is left.
sweep() {
    now=0
    tree
    set -- $found
    first=$#
    if [ "$grace" -gt 0 ] && [ -n "$found" ]; then
        kill -TERM $found 2>/dev/null
        now
        end=$((now + grace))
        # Those that ended may have started others, to clean up.
        while [ -n "$found" ] && [ "$now" -lt "$end" ]; do
            wait_for_them
            tree
        done
    fi
    rounds=10
    while [ -n "$found" ] && [ "$rounds" -gt 0 ]; do
        kill -KILL $found 2>/dev/null
        now
        end=$((now + 20))
        wait_for_them
        rounds=$((rounds - 1))
        tree
    done
}
