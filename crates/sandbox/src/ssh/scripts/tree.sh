# What belongs to a job: its session, what carries its mark, and the children of both. Sets `found`.
tree() {
    found=
    marked=$(grep -lsF -- "OUTFITTER_JOB=$job" /proc/[0-9]*/environ 2>/dev/null)
    again=1
    while [ "$again" = 1 ]; do
        again=0
        for entry in /proc/[0-9]*; do
            pid=${entry#/proc/}
            [ "$pid" = "$$" ] && continue
            case " $found " in *" $pid "*) continue ;; esac
            { IFS= read -r line <"$entry/stat"; } 2>/dev/null || continue
            # The name stands in brackets and may hold anything; the state comes after the last one.
            set -- ${line##*) }
            case "$1" in Z | X) continue ;; esac
            belongs=0
            [ "$4" = "$leader" ] && belongs=1
            case " $found " in *" $2 "*) belongs=1 ;; esac
            case "$marked" in *"/proc/$pid/environ"*) belongs=1 ;; esac
            if [ "$belongs" = 1 ]; then
                found="$found $pid"
                again=1
            fi
        done
    done
}

# TERM, `grace` tenths of a second, then KILL until nothing is left or it is of no use. Sets `first`
# to how many there were, and `found` to what is left.
sweep() {
    tree
    set -- $found
    first=$#
    if [ "$grace" -gt 0 ] && [ -n "$found" ]; then
        kill -TERM $found 2>/dev/null
        while [ "$grace" -gt 0 ]; do
            sleep 0.1 2>/dev/null || sleep 1
            grace=$((grace - 1))
            tree
            [ -z "$found" ] && break
        done
    fi
    rounds=40
    while [ -n "$found" ] && [ "$rounds" -gt 0 ]; do
        kill -KILL $found 2>/dev/null
        sleep 0.05 2>/dev/null || sleep 1
        rounds=$((rounds - 1))
        tree
    done
}
