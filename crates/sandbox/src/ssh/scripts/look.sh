# $1 workspace, $2 a folder in it that is to be there, or nothing
unset CDPATH
cd -P -- "$1" 2>/dev/null || exit 1
if [ -n "$2" ]; then
    (umask 077 && mkdir -p -- "$2") 2>/dev/null && cd -P -- "$2" || exit 1
fi
[ -w . ] && [ -r /proc/self/stat ] || exit 1
echo "workspace $(pwd -P)"
echo "home $HOME"
echo "system $(uname -sr 2>/dev/null)"
echo ready
