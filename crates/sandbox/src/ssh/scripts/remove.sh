# $1 workspace, $2 a folder in it that is to go. What still writes there is ending: it gets a moment.
unset CDPATH
cd -P -- "$1" 2>/dev/null || exit 1
rounds=5
while [ -e "./$2" ] || [ -L "./$2" ]; do
    chmod -R u+rwx -- "./$2" 2>/dev/null
    rm -rf -- "./$2" 2>/dev/null && continue
    rounds=$((rounds - 1))
    [ "$rounds" -gt 0 ] || exit 1
    sleep 1
done
echo removed
